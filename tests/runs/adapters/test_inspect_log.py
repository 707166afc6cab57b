from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest

from goldassay.core.errors import InputError
from goldassay.runs.adapters import inspect_log
from goldassay.runs.adapters.inspect_archive import last_member, members_of, read_member
from goldassay.runs.reading import find_slices, list_runs, read_runs
from goldassay.runs.run_parts import Request
from tests.stated import Fact, in_order

LOGS = Path(__file__).parents[1] / "fixtures" / "inspect_ai"
HEADER = {"version": 2, "status": "success", "eval": {"eval_id": "E1", "task": "trivia", "model": "mock/one"}}


def summaries(epochs: int = 2) -> list[dict[str, Any]]:
    values = ["C", "P", "I"]
    return [
        {"id": f"s{i}", "epoch": epoch, "scores": {"match": {"value": values[(i + epoch) % 3]}, "f1": {"value": 0.25}}}
        for epoch in range(1, epochs + 1)
        for i in range(3)
    ]


def write(path: Path, samples: Any, header: Any = HEADER, **members: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header))
        if samples is not None:
            archive.writestr("summaries.json", samples if isinstance(samples, str) else json.dumps(samples))
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def own_metric(path: Path, scorer: str) -> float:
    """The accuracy, or mean, that inspect_ai itself wrote down for a scorer."""
    header = read_member(path, members_of(path)["header.json"])
    (metrics,) = [score["metrics"] for score in header["results"]["scores"] if score["name"] == scorer]
    return float(next(metrics[name]["value"] for name in ("accuracy", "mean") if name in metrics))


@pytest.mark.parametrize("scorer", ["match", "graded", "f1"])
def test_scores_are_those_that_the_tool_reports(scorer: str) -> None:
    """The graded scorer gives all four letters: C, P, I and N."""
    path = LOGS / "capitals.eval"
    runs = read_runs(path, columns={"score": scorer})
    assert runs.scores.shape == (3, 5)
    assert runs.scores.mean() == pytest.approx(own_metric(path, scorer))


def test_several_scorers_and_groups() -> None:
    path = LOGS / "capitals.eval"
    runs = read_runs(path)
    assert (runs.model, runs.dataset) == ("mockllm/model", "capitals")
    assert (runs.scores == read_runs(path, columns={"score": "graded"}).scores).all()
    assert set(runs.scores.flat) == {0.0, 0.5, 1.0}
    assert runs.predictions is None
    assert runs.groups["genre"].tolist() == ["old", "new", "old", "new", "old"]
    assert [seed[8:] for seed in runs.seeds.tolist()] == ["-1", "-2", "-3"]
    part = read_runs(path, columns={"score": "aspects/first"}).scores
    assert set(part.flat) == {0.0, 1.0}
    for scorer in ("aspects", "absent", "aspects/absent"):
        with pytest.raises(InputError, match="there are graded, match, f1, aspects/length, aspects/first"):
            read_runs(path, columns={"score": scorer})


def test_letters_of_choices_are_labels_and_predictions() -> None:
    path = LOGS / "letters.eval"
    runs = read_runs(path)
    assert runs.label_names == ("A", "B", "C", "no answer")
    assert runs.gold is not None
    assert runs.gold.tolist() == [0, 1, 2, 0, 1, 2]
    assert runs.predictions is not None
    assert ((runs.predictions == runs.gold) == runs.scores).all()
    assert (runs.predictions == 3).any()
    assert runs.scores.mean() == pytest.approx(own_metric(path, "choice"))


@pytest.mark.parametrize(
    ("name", "said", "n_scored"),
    [
        ("holes", ("1 of 5 examples of seed", "-1 have no score", "q3"), 4),
        ("error", ("2 of 5", "no score", "status 'error'", "q3, q4"), 3),
        ("cancel", ("1 of 5", "'cancelled'", "q4"), 4),
        ("kill", ("3 of 5", "'started'", "q2, q3, q4"), 2),
    ],
)
def test_unfinished_evaluations_are_read_on_request(name: str, said: Fact, n_scored: int) -> None:
    path = LOGS / f"{name}.eval"
    assert list_runs(path)["n_examples"].to_list() == [5]
    with pytest.raises(InputError, match=in_order(said)):
        read_runs(path, missing="refuse")
    assert read_runs(path, align="intersect").n_examples == n_scored
    runs = read_runs(path, missing="wrong")
    assert (runs.n_examples, runs.scored[0].sum(), runs.scores[0].sum()) == (5, n_scored, n_scored)


def test_logs_of_a_folder_are_sets_of_their_own() -> None:
    frame = list_runs(LOGS)
    assert frame["dataset"].to_list() == ["cancel", "capitals", "error", "holes", "kill", "letters"]
    assert frame["n_runs"].to_list() == [1, 3, 1, 2, 1, 3]


def test_written_by_hand(tmp_path: Path) -> None:
    """Archives as older versions wrote them: deflated, and without a list of the samples."""
    path = write(tmp_path / "log.eval", summaries())
    runs = read_runs(path)
    assert runs.scores.tolist() == [[0.5, 0, 1], [0, 1, 0.5]]
    assert runs.example_ids.tolist() == ["s0", "s1", "s2"]
    assert runs.seeds.tolist() == ["E1-1", "E1-2"]
    assert read_runs(path, columns={"score": "f1"}).scores.tolist() == [[0.25] * 3] * 2
    unscored = summaries(1)
    unscored[1]["scores"] = None
    unscored[2]["scores"]["match"]["value"] = float("nan")
    with pytest.raises(InputError, match=in_order("2 of 3 examples of seed E1", "no score", "s1, s2")):
        read_runs(write(path, unscored), missing="refuse")
    assert read_runs(path).status.ravel().tolist() == ["scored", "unscored", "unscored"]


def test_whole_samples_tell_which_answers_were_cut_off_or_are_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last two are of agents: a call of a tool, and a last word after many, are no empty answers."""
    told = [("C", "stop", "x", 1), ("I", "max_tokens", "y", 1), (None, "model_length", "z", 1), ("I", "stop", " ", 1),
            ("C", "stop", "", 1), ("I", "stop", "", 2), ("I", "stop", "w", 1)]  # fmt: skip
    own = [{"id": f"s{i}", "epoch": 1, "scores": {"match": {"value": value}}} for i, (value, *_) in enumerate(told)]
    own[6]["limit"] = "message"
    whole = {
        f"samples/s{i}_epoch_1.json": json.dumps(
            {"id": f"s{i}", "epoch": 1, "messages": [{"role": "user"}, *[{"role": "assistant"}] * n],
             "output": {"choices": [{"message": {"content": text}, "stop_reason": reason}], "completion": text}}
        )
        for i, (_, reason, text, n) in enumerate(told)
    }  # fmt: skip
    path = write(tmp_path / "log.eval", own, **whole)
    runs = read_runs(path)
    assert runs.status[0].tolist() == [
        "scored", "scored, truncated", "truncated", "empty", "scored", "scored", "scored, truncated",
    ]  # fmt: skip
    assert runs.unrecorded == ()
    # Larger samples are not read, and then it is not known.
    monkeypatch.setattr(inspect_log, "_MAX_SAMPLES", 100)
    assert read_runs(path).status[0].tolist()[1:4] == ["scored", "unscored", "scored"]
    assert read_runs(path).unrecorded == ("empty", "truncated")


@pytest.mark.parametrize("value", ["I", "C"])
def test_samples_that_are_there_twice(tmp_path: Path, value: str) -> None:
    """With another score or the same: refused, and by the list too. Another epoch is no double."""
    again = [{"id": name, "epoch": 2, "scores": {"match": {"value": value}}} for name in ("s0", "s2")]
    path = write(tmp_path / "log.eval", summaries() + again)
    said = in_order("log.eval:", "2 sample ids", "epoch 2", "s0, s2")
    with pytest.raises(InputError, match=said):
        read_runs(path)
    with pytest.raises(InputError, match=said):
        list_runs(path)
    header = {**HEADER, "eval": {**HEADER["eval"], "dataset": {"sample_ids": ["s0", "s1", "s2"]}}}  # type: ignore[dict-item]
    with pytest.raises(InputError, match=said):
        read_runs(write(path, summaries() + again, header))
    numbered = [{"id": name, "scores": {"match": {"value": "C"}}} for name in (1, "1", 2)]
    with pytest.raises(InputError, match=in_order("1 sample ids", "epoch 1", 1)):
        read_runs(write(path, numbered))


@pytest.mark.parametrize(
    ("samples", "said"),
    [
        (None, "no summaries"),
        ([], "no samples"),
        ({}, "not a list of samples"),
        ([1], "not a list of samples"),
        ([{"epoch": 1}], "not a list of samples with ids"),
        ([{"id": 1, "epoch": "one"}], "epoch 'one'"),
        ([{"id": 1, "scores": {"match": "C"}}], "'match' of sample 1 is not an object"),
        ([{"id": 1, "scores": ["C"]}], "no sample of the log has a score"),
        ([{"id": 1, "scores": {"match": {"value": ["C"]}}}], "no sample has a score called 'match'"),
        ([{"id": 1, "scores": {"rating": {"value": 7}}}], "outside"),
        ('[{"id": 1', "not JSON"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_wrong_types(tmp_path: Path, samples: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_runs(write(tmp_path / "log.eval", samples))


@pytest.mark.parametrize("header", [[], {}, {"eval": 3}, {"eval": {"task": "t"}}])
def test_wrong_headers(tmp_path: Path, header: Any) -> None:
    with pytest.raises(InputError, match="does not say which model did which task"):
        read_runs(write(tmp_path / "log.eval", summaries(), header))
    odd = {"status": "success", "eval": {"model": "m", "task": "t", "dataset": [], "config": {"epochs": 10**12}}}
    assert read_runs(write(tmp_path / "log.eval", summaries(), odd)).n_runs == 2


def test_cut_anywhere(tmp_path: Path) -> None:
    whole = (LOGS / "kill.eval").read_bytes()
    path = tmp_path / "log.eval"
    for size in random.Random(0).sample(range(2, len(whole)), 40):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match="damaged or cut short"):
            read_runs(path)


def test_any_byte_changed(tmp_path: Path) -> None:
    """A changed byte of what is read is found by its checksum, and never raises anything but an error of ours."""
    whole = (LOGS / "kill.eval").read_bytes()
    path = tmp_path / "log.eval"
    draw = random.Random(1)
    for at in draw.sample(range(len(whole)), 200):
        changed = bytearray(whole)
        changed[at] ^= 1 << draw.randrange(8)
        path.write_bytes(changed)
        try:
            runs = read_runs(path, align="intersect")
        except InputError:
            continue
        assert runs.scores.tolist() == [[1.0, 1.0]]


def test_bombs_and_members_that_point_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.eval"
    for name in ("../../outside.json", "/outside.json", "samples/../../outside.json", "..\\outside.json"):
        with pytest.raises(InputError, match="a member of the archive points out of it"):
            read_runs(write(path, summaries(), **{name: "{}"}))
    assert not (tmp_path.parent.parent / "outside.json").exists()
    assert read_runs(write(path, summaries(), **{"samples/a..b_epoch_1.json": "{}"})).n_runs == 2
    monkeypatch.setattr("goldassay.runs.adapters.inspect_archive._MAX_MEMBER", 1 << 20)
    write(path, "[" + " " * 3_000_000 + "]")
    assert path.stat().st_size < 5_000
    with pytest.raises(InputError, match=r"summaries\.json unpacks to more than 1 MB"):
        read_runs(path)
    # One whose directory lies about its size is stopped while it is unpacked.
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\x01\x02")
    data[at + 24 : at + 28] = (10).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"damaged|unpacks to more"):
        read_runs(path)
    monkeypatch.setattr("goldassay.runs.adapters.inspect_archive._MAX_MEMBER", 100)
    with pytest.raises(InputError, match="unpacks to more"):
        read_runs(LOGS / "kill.eval")


def test_the_manifest_of_an_eval_set_is_passed_over(tmp_path: Path) -> None:
    """An eval set keeps headers of its logs by the names of files, and its own arguments, beside the logs."""
    path = write(tmp_path / "2026-11-25_trivia_x.eval", summaries())
    (tmp_path / "logs.json").write_text(json.dumps({path.name: HEADER}, indent=2))
    (tmp_path / "eval-set.json").write_text(json.dumps({"eval_set_id": "S1", "tasks": []}, indent=2))
    assert read_runs(tmp_path).scores.tolist() == read_runs(path).scores.tolist()


def test_the_other_form_of_logs_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(HEADER, indent=2))
    with pytest.raises(InputError, match="inspect log convert"):
        read_runs(path)


def whole_log(path: Path, n: int = 3, epochs: int = 2, total: int | None = None, **about: Any) -> Path:
    """A log of which the header alone says that it is whole, with its header at the end as inspect_ai has it."""
    config = {"dataset": {"sample_ids": [f"s{i}" for i in range(n)]}, "config": {"epochs": epochs}}
    total = n * epochs if total is None else total
    header = {"status": "success", "eval": HEADER["eval"] | config | about, "results": {"total_samples": total}}  # type: ignore[operator]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("summaries.json", json.dumps(summaries()))
        archive.writestr("header.json", json.dumps(header))
    return path


def test_a_list_reads_the_header_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a whole log; what it says is what reading all of it says."""
    path = whole_log(tmp_path / "log.eval")
    read: list[str] = []

    def reading(place: Path, member: zipfile.ZipInfo) -> Any:
        read.append(member.filename)
        return read_member(place, member)

    monkeypatch.setattr("goldassay.runs.adapters.inspect_log.read_member", reading)
    monkeypatch.setattr("goldassay.runs.adapters.inspect_log.members_of", None)
    listed = list_runs(path)
    assert read == ["header.json"]
    monkeypatch.undo()
    runs = read_runs(path)
    assert listed["seeds"].to_list() == [runs.seeds.tolist()]
    assert listed["n_examples"].to_list() == [runs.n_examples]


@pytest.mark.parametrize(
    "change", [{"total": 7}, {"epochs": 10**12}, {"n": 4}, {"config": {}}, {"dataset": {}}, {"dataset": []}]
)
def test_a_header_that_does_not_say_it_is_whole(tmp_path: Path, change: dict[str, Any]) -> None:
    """The samples are looked at, as they are when it is read."""
    path = whole_log(tmp_path / "log.eval", **change)
    assert list_runs(path)["n_runs"].to_list() == [2]


@pytest.mark.parametrize("path", sorted(LOGS.glob("*.eval")), ids=lambda path: path.stem)
def test_the_last_member_is_that_of_the_directory(path: Path) -> None:
    whole = members_of(path)
    found = last_member(path, "header.json", among="summaries.json")
    assert (found is None) == ("header.json" not in whole)
    if found is not None:
        assert read_member(path, found) == read_member(path, whole["header.json"])
    assert last_member(path, "header.json", among="no such member") is None


def test_a_directory_of_another_form_is_left_to_the_other_reader(tmp_path: Path) -> None:
    path = whole_log(tmp_path / "log.eval")
    whole = path.read_bytes()
    assert last_member(path, "header.json", among="summaries.json") is not None
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b"a comment"
    assert last_member(path, "header.json", among="summaries.json") is None
    for changed in (b"before" + whole, whole + b"after", whole[:-30], b"PK", b""):
        path.write_bytes(changed)
        assert last_member(path, "header.json", among="summaries.json") is None
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("../x", "summaries.json", "header.json"):
            archive.writestr(name, "{}")
    assert last_member(path, "header.json", among="summaries.json") is None
    with pytest.raises(InputError, match="points out of it"):
        list_runs(path)


def test_what_was_written_is_read_from_whole_samples(tmp_path: Path) -> None:
    """Texts of one epoch, by the sample; a target or input that is several texts is none."""
    sample = {"id": "s0", "input": "What is 1 + 1?", "target": ["2"], "output": {"completion": "It is 2."}}
    bare = {"id": "s1", "input": [{"role": "user", "content": "?"}], "target": ["2", "two"], "output": {}}
    members = {f"samples/{each['id']}_epoch_2.json": json.dumps(each) for each in (sample, bare)}
    first, second = find_slices(write(tmp_path / "log.eval", summaries(), **members), "auto", Request())
    assert first.outputs is not None
    assert first.outputs() is None
    assert second.outputs is not None
    found = second.outputs()
    assert found is not None
    columns = (found.example_ids, found.texts, found.targets, found.prompts)
    assert [each.to_list() for each in columns if each is not None] == [
        ["s0", "s1"], ["It is 2.", None], ["2", None], ["What is 1 + 1?", None]
    ]  # fmt: skip
