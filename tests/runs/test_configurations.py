"""Runs that were asked in different ways are never taken for repeats of each other."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

import goldassay
from goldassay.core.errors import InputError
from goldassay.questions.every_eval_ever import write_every_eval_ever
from goldassay.runs.adapters import stored
from goldassay.runs.configurations import canonical, differing, digest, flat, is_greedy
from goldassay.runs.reading import list_runs, read_runs
from goldassay.runs.run_parts import Request
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_long, write_runs
from tests.stated import states

FIXTURES = Path(__file__).parent / "fixtures"
PROMPTS = {"plain": 0.25, "cot": 0.5, "fewshot": 0.75}


def inspect_log(folder: Path, name: str, right: int, **about: Any) -> Path:
    """A log with as many of four samples right."""
    folder.mkdir(parents=True, exist_ok=True)
    told = {"eval_id": name, "task": "trivia", "model": "mock", "created": name, "packages": {"inspect_ai": "0.3.285"}}
    samples = [
        {"id": i, "epoch": 1, "target": "A", "scores": {"match": {"value": "C" if i < right else "I"}}}
        for i in range(4)
    ]
    path = folder / f"{name}.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"version": 2, "status": "success", "eval": told | about}))
        archive.writestr("summaries.json", json.dumps(samples))
    return path


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    """Three logs of one model, each with another prompt."""
    for place, prompt in enumerate(PROMPTS, start=1):
        inspect_log(tmp_path / "logs", f"log-{prompt}", place, task_args={"prompt": prompt})
    return tmp_path / "logs"


def test_three_prompts_are_three_sets_of_runs(prompts: Path) -> None:
    found = list_runs(prompts)
    assert found["model"].to_list() == ["mock [prompt=cot]", "mock [prompt=fewshot]", "mock [prompt=plain]"]
    assert found["n_runs"].to_list() == [1, 1, 1]
    assert found["configuration"].n_unique() == 3
    for prompt, score in PROMPTS.items():
        runs = read_runs(prompts, model=f"mock [prompt={prompt}]")
        assert runs.scores.mean() == score
        assert runs.configuration["task_args.prompt"] == prompt


def test_the_settings_that_differ_are_named(prompts: Path) -> None:
    with pytest.raises(InputError, match=r"3 configurations, which differ in task_args\.prompt") as refused:
        read_runs(prompts, model="mock")
    assert "pool_configurations" in str(refused.value.mend)
    # A pattern takes models for runs of one, and takes no configurations for repeats.
    with pytest.raises(InputError, match=r"differ in task_args\.prompt: they are no repeats"):
        read_runs(prompts, model="mock*")


def test_pooling_is_asked_for(prompts: Path) -> None:
    runs = read_runs(prompts, pool_configurations=True)
    assert (runs.model, runs.n_runs, runs.configuration) == ("mock", 3, {})
    assert sorted(runs.scores.mean(axis=1)) == sorted(PROMPTS.values())


def test_pooled_runs_of_one_seed_are_named_by_their_configuration(tmp_path: Path) -> None:
    table = pl.DataFrame(
        [
            {"id": f"e{i}", "seed": seed, "config_shots": shots, "score": float(i < shots)}
            for seed in (1, 2)
            for shots in (0, 5)
            for i in range(10)
        ]
    )
    table.write_csv(tmp_path / "runs.csv")
    assert list_runs(tmp_path / "runs.csv")["model"].to_list() == ["model [shots=0]", "model [shots=5]"]
    pooled = read_runs(tmp_path / "runs.csv", pool_configurations=True)
    assert pooled.n_runs == 4
    assert {str(seed)[:2] for seed in pooled.seeds} == {"1@", "2@"}
    assert np.sort(pooled.scores.mean(axis=1)).tolist() == [0, 0, 0.5, 0.5]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_columns_of_a_table_tell_the_configuration(tmp_path: Path, suffix: str) -> None:
    """The same in each format, whether the table is read or only listed."""
    table = pl.DataFrame(
        [
            {"id": f"e{i}", "seed": seed, "config_temperature": heat, "config_seed": seed, "score": 1.0}
            for seed in (1, 2)
            for heat in (0.0, 1.0)
            for i in range(3)
        ]
    )
    path = tmp_path / f"runs.{suffix}"
    {"csv": table.write_csv, "parquet": table.write_parquet, "jsonl": table.write_ndjson}[suffix](path)
    found = list_runs(path)
    assert found["model"].to_list() == ["model [temperature=0]", "model [temperature=1]"]
    # The seed tells repeats apart, wherever it stands.
    assert found["n_runs"].to_list() == [2, 2]
    runs = read_runs(path, model="model [temperature=1]")
    assert runs.configuration == {"temperature": 1}
    assert digest(runs.configuration) == found["configuration"][1]
    assert hashlib.sha256(b'{"temperature":1}').hexdigest()[:8] == found["configuration"][1]


def test_large_tables_are_listed_with_their_configurations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    rows = [{"id": f"e{i}", "config_prompt": prompt, "score": 1.0} for prompt in ("a", "b") for i in range(3)]
    pl.DataFrame(rows).write_csv(tmp_path / "runs.csv")
    read = list_runs(tmp_path / "runs.csv")
    monkeypatch.setattr("goldassay.runs.key_columns._SMALL", 0)
    assert list_runs(tmp_path / "runs.csv").equals(read)
    assert read["model"].to_list() == ["model [prompt=a]", "model [prompt=b]"]


def test_what_only_tells_repeats_is_no_configuration(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        inspect_log(
            tmp_path,
            f"log-{number}",
            number,
            created=f"2026-01-0{number}",
            run_id=f"r{number}",
            task_args={"seed": number, "data": f"/home/user{number}/items.jsonl"},
            model_generate_config={"seed": number, "temperature": 0.5, "max_connections": number},
            model_args={"custom_outputs": f"<generator object g at 0x7f00000{number}>", "device": f"cuda:{number}"},
            packages={"inspect_ai": f"0.3.{280 + number}"},
            config={"limit": 4, "epochs": 1, "log_samples": True},
        )
    runs = read_runs(tmp_path)
    assert (runs.model, runs.n_runs) == ("mock", 3)
    assert runs.configuration == {
        "generate.temperature": 0.5,
        "task_args.data": "items.jsonl",
        "version.inspect_ai": "0.3",
    }


@pytest.mark.parametrize(
    "about",
    [
        {"task_args": {"prompt": "b"}},
        {"solver": "chain"},
        {"solver_args": {"depth": 2}},
        {"model_generate_config": {"temperature": 1.0}},
        {"model_generate_config": {"system_message": "Be brief."}},
        {"model_generate_config": {"reasoning_effort": "high"}},
        {"scorers": [{"name": "model_graded", "options": {}}]},
        {"packages": {"inspect_ai": "0.4.0"}},
        {"config": {"message_limit": 3}},
        {"model_roles": {"grader": {"model": "other"}}},
        {"task_version": 2},
        {"dataset": {"name": "other"}},
    ],
    ids=lambda about: "-".join(about),
)
def test_all_that_inspect_tells_counts(tmp_path: Path, about: dict[str, Any]) -> None:
    inspect_log(tmp_path, "log-1", 1)
    inspect_log(tmp_path, "log-2", 2, **about)
    assert list_runs(tmp_path)["n_runs"].to_list() == [1, 1]


def test_files_are_told_apart_beyond_their_folders(tmp_path: Path) -> None:
    for number, prompt in enumerate(("/a/plain.txt", "/b/plain.txt", "/b/cot.txt")):
        inspect_log(tmp_path, f"log-{number}", number, task_args={"prompt_from": prompt})
    assert list_runs(tmp_path)["n_runs"].to_list() == [1, 2]


def lm_eval_run(folder: Path, time: str, shots: int, **config: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        {
            "doc_id": i, "doc": {}, "target": "1", "arguments": {}, "resps": [["x"]], "filtered_resps": ["x"],
            "filter": "none", "metrics": ["exact_match"], "exact_match": float(i < shots),
        }
        for i in range(6)
    ]  # fmt: skip
    (folder / f"samples_quiz_{time}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    results = {
        "configs": {"quiz": {"task": "quiz", "num_fewshot": shots, "metadata": {"pretrained": time}}},
        "n-shot": {"quiz": shots},
        "versions": {"quiz": 1.0},
        "config": {
            "model": "hf",
            "model_args": f"pretrained=org/m,device=cuda:{shots}",
            "fewshot_seed": shots,
            **config,
        },
        "model_name": "org/m",
        "lm_eval_version": "0.4.13",
        "date": time,
    }
    (folder / f"results_{time}.json").write_text(json.dumps(results))


def test_shots_of_the_harness_are_configurations(tmp_path: Path) -> None:
    for day, shots in enumerate((0, 5, 5), start=1):
        lm_eval_run(tmp_path / "m", f"2026-01-0{day}T10-00-00", shots)
    found = list_runs(tmp_path)
    assert found["n_runs"].to_list() == [1, 2]
    assert [name[:7] for name in found["model"]] == ["org/m [", "org/m ["]
    with pytest.raises(InputError, match=r"differ in n_shot, task\.num_fewshot"):
        read_runs(tmp_path, model="org/m")
    assert read_runs(tmp_path, pool_configurations=True).n_runs == 3


@pytest.mark.parametrize(
    "config", [{"gen_kwargs": {"temperature": 1}}, {"gen_kwargs": "temperature=1"}, {"model_args": "dtype=float16"}]
)
def test_settings_of_the_harness_are_configurations(tmp_path: Path, config: dict[str, Any]) -> None:
    lm_eval_run(tmp_path / "m", "2026-01-01T10-00-00", 2)
    lm_eval_run(tmp_path / "m", "2026-01-02T10-00-00", 2, **config)
    assert len(list_runs(tmp_path / "m")) == 2


def test_helm_tells_the_adapter() -> None:
    place = next(FIXTURES.glob("helm/**/per_instance_stats.json"))
    configuration = read_runs(place, columns={"score": "exact_match"}, dataset=list_runs(place)["dataset"][0])
    told = configuration.configuration
    assert told["adapter.max_train_instances"] == 5
    assert told["adapter.temperature"] == 0
    assert not {"adapter.model", "adapter.num_train_trials", "adapter.max_eval_instances"} & told.keys()


def test_lighteval_tells_generation_and_shots() -> None:
    runs = read_runs(FIXTURES / "lighteval", model="made-up/dummy", dataset="made_up_choice|0")
    assert runs.n_runs == 2
    assert runs.configuration == {"model.generation_parameters.temperature": 0, "shots": 0}


def in_memory(**configuration: Any) -> Runs:
    scores = np.random.default_rng(0).integers(0, 2, (2, 7))
    return Runs.from_arrays(scores=scores, model="m", dataset="d", configuration=configuration)


@pytest.mark.parametrize("write", [write_runs, write_every_eval_ever], ids=["store", "every_eval_ever"])
def test_configurations_survive_being_written(tmp_path: Path, write: Any) -> None:
    told = [{"prompt": "cot", "shots": 5}, {"prompt": "plain", "shots": 5, "stop": ["\n", "Q:"]}]
    for configuration in told:
        # Both go to one folder, where neither may replace the other.
        assert len(write(in_memory(**configuration), tmp_path)) == 2
    found = list_runs(tmp_path)
    assert found["n_runs"].to_list() == [2, 2]
    assert found["configuration"].sort().to_list() == sorted(map(digest, told))
    read = read_runs(tmp_path, model=found["model"][0])
    assert read.base_model == "m"
    # What was told apart is written under its own name, and told apart again.
    write(read, tmp_path)
    assert list_runs(tmp_path).equals(found)


def test_the_store_has_a_column_and_canonical_metadata(tmp_path: Path) -> None:
    path, _ = write_runs(in_memory(b=2.0, a={"x": "y"}), tmp_path)
    assert pl.read_parquet(path)["configuration"].unique().to_list() == [digest({"a.x": "y", "b": 2})]
    metadata = json.loads(pl.read_parquet_metadata(path)["goldassay_run"])
    assert canonical(metadata["configuration"]) == '{"a.x":"y","b":2}'
    assert "configuration" not in pl.read_parquet_schema(write_runs(in_memory(), tmp_path)[0])


def test_runs_without_a_configuration_are_stored_as_before(tmp_path: Path) -> None:
    (first, _) = write_runs(in_memory(), tmp_path)
    (found,) = stored.find(first, Request()) or []
    assert found.configuration == {}
    assert list_runs(tmp_path)["configuration"].to_list() == [""]


def test_a_damaged_configuration_is_refused(tmp_path: Path) -> None:
    from dataclasses import replace

    (found,) = stored.find(write_runs(in_memory(), tmp_path)[0], Request()) or []
    with pytest.raises(InputError, match="the configuration of a run"):
        replace(found, configuration=["x"])  # type: ignore[arg-type]


def test_one_configuration_has_one_name_on_all_datasets(tmp_path: Path) -> None:
    """A suite's tasks have settings of their own, which do not make other models of one."""
    rows = [
        {"id": f"e{i}", "dataset": name, "config_task": name, "config_prompt": prompt, "score": 1.0}
        for name, asked in (("a", ("cot", "plain")), ("b", ("cot",)))
        for prompt in asked
        for i in range(2)
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "runs.csv")
    found = list_runs(tmp_path / "runs.csv").select("model", "dataset").rows()
    assert found == [("model [prompt=cot]", "a"), ("model [prompt=cot]", "b"), ("model [prompt=plain]", "a")]


def test_long_settings_are_named_by_digits(tmp_path: Path) -> None:
    for number in (1, 2):
        inspect_log(tmp_path, f"log-{number}", number, task_args={"prompt": f"{'Think step by step. ' * 9}{number}"})
    names = list_runs(tmp_path)["model"].to_list()
    assert all(re.fullmatch(r"mock \[prompt: [0-9a-f]{8}\]", name) for name in names)
    assert len(set(names)) == 2
    with pytest.raises(InputError, match=r"task_args\.prompt"):
        read_runs(tmp_path, model="mock")


def test_models_that_were_asked_in_different_ways_are_said_to_be_so(tmp_path: Path) -> None:
    import goldassay

    for at, (model, prompt) in enumerate((("a", "plain"), ("b", "cot"), ("c", "cot"))):
        inspect_log(tmp_path, f"log-{at}", at, model=model, task_args={"prompt": prompt})
    said = "different prompts or settings: task_args.prompt"
    for models in (["a", "b"], ["b", "c"]):
        compared = goldassay.compare_models(tmp_path, model=models, quiet=True).to_dict()["comparison"]
        assert states(compared["sentences"][1], said) == ("a" in models)
        assert not states(compared["notes"], said)
    assert states(goldassay.rank_systems(tmp_path).to_dict()["board"]["sentences"][1], said)


def test_white_space_around_a_name_makes_no_other_model(tmp_path: Path) -> None:
    rows = [
        {"id": f"e{i}", "model": model, "seed": seed, "score": 1.0}
        for seed, model in enumerate(("m", "m ", " m"))
        for i in range(2)
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "runs.csv")
    assert list_runs(tmp_path / "runs.csv").select("model", "n_runs").rows() == [("m", 3)]
    assert read_runs(tmp_path / "runs.csv").n_runs == 3


def test_names_that_would_be_alike_are_told_apart(tmp_path: Path) -> None:
    for number, prompt in enumerate(("a b", "a  b", "a*b")):
        inspect_log(tmp_path, f"log-{number}", number, task_args={"prompt": prompt})
    assert list_runs(tmp_path)["model"].n_unique() == 3


plain = st.one_of(st.integers(-9, 9), st.booleans(), st.text("ab", max_size=3), st.sampled_from([0.0, 1.0, 0.5, None]))
settings = st.dictionaries(st.sampled_from("pqrst"), st.one_of(plain, st.dictionaries(st.sampled_from("uv"), plain)))


@given(settings)
def test_the_order_of_settings_does_not_matter(told: dict[str, Any]) -> None:
    turned = dict(reversed(list(told.items())))
    assert digest(flat(told)) == digest(flat(turned))
    assert flat(flat(told)) == flat(told)
    assert differing([flat(told), flat(turned)]) == []


@given(settings, settings)
def test_configurations_differ_where_some_setting_does(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert bool(differing([flat(one), flat(other)])) == (digest(flat(one)) != digest(flat(other)))


_SETTINGS = st.dictionaries(
    st.text("abcxyz_.", min_size=1, max_size=8),
    st.recursive(
        st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=12)
        | st.sampled_from(
            ["0.3", "1e5", "007", "true", "True", "null", "NA", '"x"', "[1]", "[", "=1+1", "-x", "+5", "\u200e"]
        )
        | st.sampled_from([0.1, 5.0, 1e16, 1e-7, 2**60 + 1, 10**400]),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=4,
    ),
    max_size=4,
)


@hypothesis_settings(max_examples=60, deadline=None)
@given(_SETTINGS)
@example({"version.inspect_ai": "0.3", "shots": 5.0, "greedy": True, "stop": ["0.3", "x"]})
def test_every_export_keeps_the_digest(told: dict[str, Any]) -> None:
    """A text that looks like a number stays a text, whatever the form that the runs are written in."""
    configuration = flat(told)
    made = Runs.from_arrays(scores=np.array([[1.0, 0.0]]), model="m", dataset="d", configuration=configuration)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_runs(made, place / "stored")
        write_long([made], place / "long")
        write_every_eval_ever(made, place / "eee")
        for name in ("stored", "long", "eee"):
            (listed,) = list_runs(place / name)["configuration"].to_list()
            assert listed == digest(configuration), name
            assert read_runs(place / name).configuration == configuration


@pytest.mark.parametrize(
    ("configuration", "greedy"),
    [
        ({"generate.temperature": 0}, True),
        ({"gen_kwargs.temperature": 0.0, "gen_kwargs.do_sample": False}, True),
        ({"task.output_type": "multiple_choice"}, True),
        ({"do_sample": False}, True),
        ({"temperature": 0.7}, False),
        ({"do_sample": True, "temperature": 0}, False),
        ({"prompt": "cot"}, False),
        ({}, False),
    ],
    ids=str,
)
def test_greedy_runs_are_told_by_their_settings(configuration: dict[str, Any], greedy: bool) -> None:
    assert is_greedy(configuration) is greedy


def test_of_greedy_runs_more_examples_are_advised_and_no_more_runs(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    scores = {name: rng.integers(0, 2, 400) for name in ("a", "b", "c")}
    for heat in (0, 0.7):
        for name, own in scores.items():
            table = pl.DataFrame({"example_id": [f"q{at}" for at in range(400)], "score": own, "model": name,
                                  "group_kind": ["x", "y"] * 200, "config_temperature": heat})  # fmt: skip
            table.write_csv(tmp_path / f"{name}.csv")
        for names in ("ab", "abc"):
            found = goldassay.compare_models(*(tmp_path / f"{name}.csv" for name in names))
            told = " ".join(found.document["comparison"]["sentences"])
            needed = found.document["comparison"]["pairs"][0]["examples_needed"]
            assert f"{needed:,} examples" in told
            assert ("5 runs" in told) is (heat > 0)
            # Two groups are too few clusters to be advised.
            assert "--clusters" not in " ".join(found.document["comparison"]["notes"])
    d = scores["a"].astype(float) - scores["b"]
    found = goldassay.compare_models(tmp_path / "a.csv", tmp_path / "b.csv").document["comparison"]["pairs"][0]
    power = TTestPower().power(abs(d.mean()) / d.std(ddof=1), found["examples_needed"], 0.05)
    assert power == pytest.approx(0.8, abs=0.005)
