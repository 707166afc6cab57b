"""Each loss against plain NumPy, its gradients against finite differences, and what it becomes at its limits."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from goldassay.core.errors import InputError
from goldassay.lab.training.configured import settings_of
from goldassay.lab.training.objectives import CrossEntropy, TeacherLogitsOn
from goldassay.lab.training.objectives.experts import (
    SMALLEST,
    ConfidenceRegularization,
    Expert,
    LearnedMixin,
    LearnedMixinSettings,
    ProductOfExperts,
)
from goldassay.lab.training.objectives.guidance import (
    Adversarial,
    AdversarialSettings,
    Guidance,
    GuidedCrossEntropy,
    GuidedSettings,
    reverse_gradient,
)
from tests.lab.training.objectives.toy import WIDTH, K, N, Toy, log_softmax, made_batch, made_probabilities, slopes

# Rows of a training set in which the batch's rows lie scattered.
ROWS = np.array([9, 0, 4, 11, 2, 7, 5])
EXAMPLE_WEIGHTS = torch.tensor([1.0, 2.0, 0.0, 0.5, 1.0, 3.0, 1.0], dtype=torch.float64)
UNIFORM = np.full((12, K), 1 / K)


def scattered(probabilities: np.ndarray) -> np.ndarray:
    everywhere = np.full((12, K), 1 / K)
    everywhere[ROWS] = probabilities
    return everywhere


def loss_of(objective, network, weights=None):
    batch, labels = made_batch()
    return objective.double()(network, batch, labels, weights, ROWS).loss


def value(objective, network, weights=None) -> float:
    return loss_of(objective, network, weights).item()


def plain(network, weights=None) -> float:
    return value(CrossEntropy(), network, weights)


def logits_of(network) -> np.ndarray:
    return network(made_batch()[0]).detach().numpy()


def gold() -> np.ndarray:
    return made_batch()[1].numpy()


def teacher_logits(strengths: np.ndarray) -> TeacherLogitsOn:
    return TeacherLogitsOn(strengths.astype(np.float32), strengths.astype(np.float32))


def half_biased() -> TeacherLogitsOn:
    """Rows 0, 4 and 7 are biased at .7."""
    strengths = np.full((12, K), 0.3)
    strengths[[0, 4, 7], 1] = 0.9
    strengths[2, 0] = 0.7
    return teacher_logits(strengths)


def check_gradients(objective, network) -> None:
    objective.double()
    parameters = [*network.parameters(), *objective.parameters()]
    loss_of(objective, network, EXAMPLE_WEIGHTS).backward()
    expected = slopes(lambda: loss_of(objective, network, EXAMPLE_WEIGHTS), parameters)
    for parameter, slope in zip(parameters, expected, strict=True):
        np.testing.assert_allclose(parameter.grad.numpy(), slope, atol=1e-7)


@pytest.mark.parametrize("weights", [None, EXAMPLE_WEIGHTS])
def test_product_of_experts(weights):
    network, biased = Toy(), made_probabilities()
    joined = log_softmax(log_softmax(logits_of(network)) + np.log(biased))
    each = -joined[np.arange(N), gold()] * (1 if weights is None else weights.numpy())
    assert value(ProductOfExperts(Expert(scattered(biased))), network, weights) == pytest.approx(
        each.sum() / N, rel=1e-6
    )


def test_a_uniform_bias_makes_a_product_of_experts_cross_entropy():
    network = Toy()
    for weights in (None, EXAMPLE_WEIGHTS):
        found = value(ProductOfExperts(Expert(UNIFORM)), network, weights)
        assert found == pytest.approx(plain(network, weights), rel=1e-6)


def test_where_the_bias_model_is_right_and_sure_little_is_learnt():
    network, sure = Toy(), np.full((N, K), 1e-5)
    sure[np.arange(N), gold()] = 1 - 2e-5
    loss_of(ProductOfExperts(Expert(scattered(sure))), network).backward()
    assert max(float(each.grad.abs().max()) for each in network.parameters()) < 1e-4


@pytest.mark.parametrize("penalty", [0.0, 0.3])
def test_learned_mixin(penalty):
    network, biased = Toy(), made_probabilities()
    objective = LearnedMixin(Expert(scattered(biased)), LearnedMixinSettings(penalty), 6).double()
    hidden = network.represent(made_batch()[0]).detach().numpy()
    v, c = objective.trust.weight.detach().numpy()[0], objective.trust.bias.detach().numpy()[0]
    trust = np.log1p(np.exp(hidden @ v + c))[:, None]
    joined = log_softmax(log_softmax(logits_of(network)) + trust * np.log(biased))
    left = log_softmax(trust * np.log(biased))
    entropy = -(np.exp(left) * left).sum(1)
    expected = np.mean(-joined[np.arange(N), gold()] + penalty * entropy)
    assert value(objective, network) == pytest.approx(expected, rel=1e-6)
    objective.end_epoch(1, None)
    assert objective.findings()["trust"] == [pytest.approx(trust.mean())]


def test_learned_mixin_without_trust_is_cross_entropy_and_the_penalty_of_a_uniform_bias():
    network = Toy()
    objective = LearnedMixin(Expert(scattered(made_probabilities())), LearnedMixinSettings(0.2), 6).double()
    torch.nn.init.zeros_(objective.trust.weight)
    torch.nn.init.constant_(objective.trust.bias, -80.0)
    assert value(objective, network) == pytest.approx(plain(network) + 0.2 * np.log(K), rel=1e-9)


def test_confidence_regularization():
    network, biased, teacher = Toy(), made_probabilities(2), made_probabilities(3)
    beta = biased[np.arange(N), gold()][:, None]
    scaled = teacher ** (1 - beta)
    scaled /= scaled.sum(axis=1, keepdims=True)
    expected = -(scaled * log_softmax(logits_of(network))).sum(1).mean()
    objective = ConfidenceRegularization(Expert(scattered(biased)), Expert(scattered(teacher)))
    assert value(objective, network) == pytest.approx(expected, rel=1e-6)


def test_a_bias_that_knows_nothing_is_plain_distillation_and_one_that_knows_all_asks_for_indifference():
    network, teacher = Toy(), made_probabilities(3)
    logs = log_softmax(logits_of(network))

    def found(beta: float) -> float:
        biased = np.full((N, K), (1 - beta) / (K - 1))
        biased[np.arange(N), gold()] = beta
        return value(ConfidenceRegularization(Expert(scattered(biased)), Expert(scattered(teacher))), network)

    assert found(0.0) == pytest.approx(-(teacher * logs).sum(1).mean(), rel=1e-5)
    assert found(1.0) == pytest.approx(-logs.mean(1).mean(), rel=1e-6)
    # A uniform bias flattens all rows alike: distillation at the temperature 1/(1 - 1/K).
    at_temperature = teacher ** (1 - 1 / K)
    at_temperature /= at_temperature.sum(axis=1, keepdims=True)
    assert found(1 / K) == pytest.approx(-(at_temperature * logs).sum(1).mean(), rel=1e-6)


@pytest.mark.parametrize("build", [
    lambda: ProductOfExperts(Expert(scattered(made_probabilities()))),
    lambda: LearnedMixin(Expert(scattered(made_probabilities())), LearnedMixinSettings(0.3), 6),
    lambda: ConfidenceRegularization(Expert(scattered(made_probabilities())), Expert(scattered(made_probabilities(3)))),
    lambda: GuidedCrossEntropy(Guidance(GuidedSettings(), {"alpha2": 5.0}, half_biased())),
])  # fmt: skip
def test_gradients(build):
    check_gradients(build(), Toy())


def test_probabilities_of_zero_stay_finite():
    certain = np.zeros((12, K))
    certain[:, 0] = 1
    expert = Expert(certain)
    assert float(expert.logs.min()) == pytest.approx(np.log(SMALLEST))
    for objective in (
        ProductOfExperts(expert),
        LearnedMixin(expert, LearnedMixinSettings(), 6),
        ConfidenceRegularization(expert, Expert(certain)),
    ):
        network = Toy()
        loss = loss_of(objective, network)
        loss.backward()
        assert torch.isfinite(loss)
        assert all(torch.isfinite(each.grad).all() for each in network.parameters())


def test_guided_cross_entropy_weighs_what_is_not_biased():
    network = Toy()
    objective = GuidedCrossEntropy(Guidance(GuidedSettings(), {"alpha2": 5.0}, half_biased()))
    each = -log_softmax(logits_of(network))[np.arange(N), gold()]
    # Rows 9, 0, 4, 11, 2, 7, 5; a strength of just .7 does not exceed the threshold.
    own = np.array([5, 1, 1, 5, 5, 1, 5])
    assert value(objective, network) == pytest.approx((own * each).sum() / N)
    weighted = value(objective, network, EXAMPLE_WEIGHTS)
    assert weighted == pytest.approx((own * each * EXAMPLE_WEIGHTS.numpy()).sum() / N)
    unguided = GuidedCrossEntropy(Guidance(GuidedSettings(alpha2=1.0), {"alpha2": 1.0}, half_biased()))
    assert value(unguided, network) == pytest.approx(plain(network))


def adversarial(guided: bool = True, **settings) -> Adversarial:
    torch.manual_seed(5)
    chosen = AdversarialSettings(hidden=5, **settings)
    alphas = {"alpha1": chosen.alpha1, "alpha2": chosen.alpha2}
    guidance = Guidance(chosen, alphas, half_biased()) if guided else None
    return Adversarial(chosen, WIDTH, K, guidance).double()


def losses_by_hand(objective: Adversarial, network: Toy, guided: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """L_C and L_D as they are written, without a reversal."""
    batch, labels = made_batch()
    biased = torch.tensor([row in (0, 4, 7) for row in ROWS])
    of_classifier = torch.where(biased, 1.0, 5.0) if guided else torch.ones(N)
    of_discriminators = torch.where(biased, 2.0, 1.0) if guided else torch.ones(N)
    each = torch.nn.functional.nll_loss
    classified = each(torch.log_softmax(network(batch), 1), labels, reduction="none")
    shown = network.sentences(batch)[1]
    judged = [each(torch.log_softmax(d(shown), 1), labels, reduction="none") for d in objective.discriminators]
    return (of_classifier * classified).sum() / N, sum((of_discriminators * one).sum() for one in judged) / N / len(
        judged
    )


@pytest.mark.parametrize("guided", [False, True])
@pytest.mark.parametrize("k", [1, 3])
def test_each_part_descends_its_own_loss(guided, k):
    """Discriminators: L_D. Classifier and premise encoder: L_C. Hypothesis encoder: L_C - gamma L_D."""
    network, gamma = Toy(), 3.0
    objective = adversarial(guided, gamma=gamma, discriminators=k, alpha1=2.0)
    of_classifier, of_discriminators = losses_by_hand(objective, network, guided)
    loss = loss_of(objective, network)
    assert float(loss) == pytest.approx(float(of_classifier + of_discriminators))
    loss.backward()
    hand = {
        "L_D": lambda: losses_by_hand(objective, network, guided)[1],
        "L_C": lambda: losses_by_hand(objective, network, guided)[0],
    }
    own = list(objective.discriminators.parameters())
    for parameter, slope in zip(own, slopes(hand["L_D"], own), strict=True):
        np.testing.assert_allclose(parameter.grad.numpy(), slope, atol=1e-7)
    rest = [network.premise.weight, *network.hidden.parameters(), *network.classifier.parameters()]
    for parameter, slope in zip(rest, slopes(hand["L_C"], rest), strict=True):
        np.testing.assert_allclose(parameter.grad.numpy(), slope, atol=1e-7)
    encoder = [network.hypothesis.weight]
    (both,) = slopes(lambda: hand["L_C"]() - gamma * hand["L_D"](), encoder)
    np.testing.assert_allclose(encoder[0].grad.numpy(), both, atol=1e-7)


def test_one_step_makes_discriminators_better_and_the_hypothesis_worse_for_them():
    network = Toy()
    objective = adversarial(guided=False, gamma=50.0, discriminators=1)
    before = float(losses_by_hand(objective, network, False)[1])
    loss_of(objective, network).backward()
    with torch.no_grad():
        network.hypothesis.weight -= 1e-3 * network.hypothesis.weight.grad
        assert float(losses_by_hand(objective, network, False)[1]) > before
        network.hypothesis.weight += 1e-3 * network.hypothesis.weight.grad
        for parameter in objective.discriminators.parameters():
            parameter -= 1e-3 * parameter.grad
        assert float(losses_by_hand(objective, network, False)[1]) < before


def test_gamma_zero_leaves_the_encoder_with_the_classifier_alone():
    network, alone = Toy(), Toy()
    loss_of(adversarial(guided=False, gamma=0.0), network).backward()
    loss_of(CrossEntropy(), alone).backward()
    for one, other in zip(network.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=0, atol=0)


def test_weights_of_one_guide_nothing():
    guided = adversarial(True, alpha1=1.0, alpha2=1.0)
    assert value(guided, Toy()) == value(adversarial(False), Toy())


def test_the_reversal_passes_values_on_and_turns_gradients():
    values = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    out = reverse_gradient(values, 2.5)
    torch.testing.assert_close(out, values, rtol=0, atol=0)
    (out**2).sum().backward()
    turned = [-2.5 * slope for slope in slopes(lambda: (values**2).sum(), [values])]
    np.testing.assert_allclose(values.grad.numpy(), turned[0], atol=1e-7)


def test_outside_training_nothing_is_reversed():
    network, objective = Toy(), adversarial(guided=False, discriminators=1)
    batch, labels = made_batch()
    objective.eval()
    objective(network, batch, labels, None, ROWS).loss.backward()
    (plus,) = slopes(lambda: sum(losses_by_hand(objective, network, False)), [network.hypothesis.weight])
    np.testing.assert_allclose(network.hypothesis.weight.grad.numpy(), plus, atol=1e-7)


def test_discriminators_are_counted_and_judge_apart():
    network, objective = Toy(), adversarial(discriminators=2)
    batch, labels = made_batch()
    judged = objective.judges(network, batch).detach()
    assert judged.shape == (N, 2 * K)
    loss_of(objective, network)
    objective.end_epoch(1, None)
    expected = [float((part.argmax(1) == labels).double().mean()) for part in judged.split(K, dim=1)]
    assert objective.findings()["discriminators"] == [pytest.approx(expected)]
    assert objective.n_judges == 2


@pytest.mark.parametrize(
    ("objective", "changes", "message"),
    [
        ("adversarial", {"gamma": -1.0}, "gamma is -1"),
        ("adversarial", {"gamma": float("nan")}, "gamma is nan"),
        ("adversarial", {"alpha1": 0.5}, "alpha1 is 0.5"),
        ("guided_cross_entropy", {"alpha2": float("inf")}, "alpha2 is inf"),
        ("adversarial", {"discriminators": 0}, "discriminators is 0"),
        ("adversarial", {"threshold": 1.0}, "threshold is 1.0"),
        ("adversarial", {"cap": 0.0}, "cap is 0"),
        ("adversarial", {"step": 0.0}, "step is 0"),
        ("adversarial", {"phi": 15.0}, "phi is 15"),
        ("learned_mixin", {"penalty": -0.1}, "penalty is -0.1"),
        ("adversarial", {"gama": 1.0}, "did you mean 'gamma'"),
        ("adversarial", {"penalty": 1.0}, "it is one of learned_mixin"),
        ("product_of_experts", {"gamma": 1.0}, "it is one of adversarial"),
        ("product_of_experts", {"nonsense": 1.0}, "it has none: leave it out"),
        ("adversarial", {"gamma": "much"}, "gamma is 'much'; give a number"),
    ],
)
def test_settings_out_of_range_or_of_another_objective_are_refused(objective, changes, message):
    with pytest.raises(InputError, match=message):
        settings_of(objective, changes)
