"""Compiled loops that walk the tree of patterns' beginnings, to find, to count and to sum what sentences have of them.

A tree is that of `PatternTree`: nodes have their children's keys in ascending order, gap F + token, F tokens. Sums over
clusters of sentences are made as patterns are mined: the occurrences of a pattern's first token are gathered, and those
of each longer pattern from those of its beginning. A pattern's occurrences thus come one after the other, cluster by
cluster, and its sums are made once; to walk through the sentences would touch other patterns with each match, and so
mostly wait for memory.

The compiled loops that look for a pattern's parts among other patterns and fold what adds nothing to one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.compiled import compiled, compiled_within
from goldassay.kernels.hashing import lower_bound
from goldassay.kernels.pattern_counts import with_room

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Labels of a node and all below it: none, or more than one.
NO_LABEL, SEVERAL = -1, -2


@compiled
def find_patterns(
    begin: int,
    end: int,
    tokens: NDArray[np.int32],
    offsets: NDArray[np.int64],
    n_distances: int,
    n_tokens: int,
    n_rows: int,
    roots: NDArray[np.int32],
    keys: NDArray[np.int32],
    child_starts: NDArray[np.int32],
    row_starts: NDArray[np.int32],
    rows: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find which rows' patterns are in the sentences `begin` to `end`; each is named once a sentence.

    Args:
        begin: First sentence.
        end: Past the last sentence.
        tokens: The patterns' number of each token of all sentences, -1 for one that no pattern has.
        offsets: Where each sentence starts (N+1,).
        n_distances: Largest gap + 1.
        n_tokens: F, how many tokens the patterns have.
        n_rows: How many rows the table has.
        roots: Node of each token as a pattern's first, -1 where none starts so, (F,).
        keys: gap F + token of each node under its parent; ascending within a parent.
        child_starts: Where each node's children start in `keys`; they end where the next node's start.
        row_starts: Where each node's rows start in `rows`.
        rows: Rows of the table by node.

    Returns:
        Sentence and row of each match, sentences ascending.
    """
    found_sentences = np.empty(1024, np.int64)
    found_rows = np.empty(1024, np.int64)
    n_found = 0
    last = np.full(n_rows, -1, np.int64)
    nodes = np.empty(6 * (n_distances + 1), np.int64)
    places = np.empty(6 * (n_distances + 1), np.int64)
    for s in range(begin, end):
        for p in range(offsets[s], offsets[s + 1]):
            if tokens[p] < 0 or roots[tokens[p]] < 0:
                continue
            nodes[0] = roots[tokens[p]]
            places[0] = p
            height = 1
            while height > 0:
                height -= 1
                node = nodes[height]
                q = places[height]
                for i in range(row_starts[node], row_starts[node + 1]):
                    row = rows[i]
                    if last[row] != s:
                        last[row] = s
                        if n_found == found_rows.size:
                            found_rows = np.concatenate((found_rows, np.empty_like(found_rows)))
                            found_sentences = np.concatenate((found_sentences, np.empty_like(found_sentences)))
                        found_sentences[n_found] = s
                        found_rows[n_found] = row
                        n_found += 1
                first_child, past_child = child_starts[node], child_starts[node + 1]
                if first_child == past_child:
                    continue
                height = _push_children(
                    tokens,
                    q,
                    offsets[s + 1],
                    first_child,
                    past_child,
                    n_distances,
                    n_tokens,
                    keys,
                    nodes,
                    places,
                    height,
                )
    return found_sentences[:n_found], found_rows[:n_found]


@compiled
def highest_below(
    child_starts: NDArray[np.int32],
    row_starts: NDArray[np.int32],
    labels: NDArray[np.int32],
    levels: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Of each node of a tree and all below it, the only label (or `NO_LABEL`, `SEVERAL`) and the highest level.

    Args:
        child_starts: As in `PatternTree`; children have larger numbers than their parent.
        row_starts: As in `PatternTree`.
        labels: Of each row, in the tree's order of rows.
        levels: Of each row, in that order; 0 for rows that do not count.
    """
    n_nodes = row_starts.size - 1
    label = np.full(n_nodes, NO_LABEL, np.int32)
    level = np.zeros(n_nodes, np.int32)
    for back in range(n_nodes):
        node = n_nodes - 1 - back
        for i in range(row_starts[node], row_starts[node + 1]):
            if levels[i] > 0:
                level[node] = max(level[node], levels[i])
                label[node] = labels[i] if label[node] == NO_LABEL or label[node] == labels[i] else SEVERAL
        for child in range(child_starts[node], child_starts[node + 1]):
            if level[child] > 0:
                level[node] = max(level[node], level[child])
                label[node] = label[child] if label[node] == NO_LABEL or label[node] == label[child] else SEVERAL
    return label, level


@compiled
def count_coverage(
    begin: int,
    end: int,
    order: NDArray[np.int64],
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    codes: NDArray[np.integer[Any]],
    numbers: NDArray[np.int32],
    n_thresholds: int,
    n_labels: int,
    n_distances: int,
    roots: NDArray[np.int32],
    keys: NDArray[np.int32],
    child_starts: NDArray[np.int32],
    row_starts: NDArray[np.int32],
    labels: NDArray[np.int32],
    levels: NDArray[np.int32],
    label_below: NDArray[np.int32],
    level_below: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Count the sentences `begin` to `end` at each of T thresholds.

    Args:
        begin: First sentence, by its place in `order`.
        end: The one after the last.
        order: The sentences in the order in which they are searched, (N,).
        ids: Token numbers of all sentences.
        offsets: Where each sentence starts in `ids`, (N+1,).
        codes: Label of each sentence, (N,); those below 0 are left out.
        numbers: The tree's number of each token number, -1 where no pattern has it.
        n_thresholds: T.
        n_labels: K.
        n_distances: As in `PatternTree`, as what follows.
        roots: As there.
        keys: As there.
        child_starts: As there.
        row_starts: As there.
        labels: Of each row, in the tree's order of rows.
        levels: How many thresholds each row's share exceeds, in that order.
        label_below: As `highest_below` gives it.
        level_below: As `highest_below` gives it.

    Returns:
        covered (T,), decided (T,), easy (T,) and left_open (T,K) as in `CoverageCount`.
    """
    covered = np.zeros(n_thresholds, np.int64)
    decided = np.zeros(n_thresholds, np.int64)
    easy = np.zeros(n_thresholds, np.int64)
    left_open = np.zeros((n_thresholds, n_labels), np.int64)
    n_tokens = roots.size
    longest = 0
    for number in range(begin, end):
        longest = max(longest, offsets[order[number] + 1] - offsets[order[number]])
    tokens = np.empty(longest, np.int64)
    nodes = np.empty(6 * (n_distances + 1), np.int64)
    places = np.empty(6 * (n_distances + 1), np.int64)
    for number in range(begin, end):
        s = order[number]
        if codes[s] < 0:
            continue
        length = offsets[s + 1] - offsets[s]
        for p in range(length):
            tokens[p] = numbers[ids[offsets[s] + p]]
        # The label with the highest level, its level, and the highest level of any other label.
        first = NO_LABEL
        highest = 0
        second = 0
        for p in range(length):
            if second == n_thresholds:
                break
            if tokens[p] < 0 or roots[tokens[p]] < 0:
                continue
            nodes[0] = roots[tokens[p]]
            places[0] = p
            height = 1
            while height > 0:
                height -= 1
                node = nodes[height]
                q = places[height]
                if level_below[node] <= (highest if label_below[node] == first else second):
                    continue
                for i in range(row_starts[node], row_starts[node + 1]):
                    if labels[i] == first:
                        highest = max(highest, levels[i])
                    elif levels[i] > highest:
                        second = highest
                        highest = levels[i]
                        first = labels[i]
                    else:
                        second = max(second, levels[i])
                first_child, past_child = child_starts[node], child_starts[node + 1]
                if first_child == past_child:
                    continue
                height = _push_children(
                    tokens, q, length, first_child, past_child, n_distances, n_tokens, keys, nodes, places, height
                )
        for t in range(n_thresholds):
            if t < highest:
                covered[t] += 1
            if second <= t < highest:
                decided[t] += 1
                if first == codes[s]:
                    easy[t] += 1
            else:
                left_open[t, codes[s]] += 1
    return covered, decided, easy, left_open


@compiled
def place_tokens(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], n_tokens: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Where each token occurs.

    Args:
        tokens: Token numbers of all sentences, -1 for one that is not looked for.
        offsets: Where each sentence starts (N+1,).
        n_tokens: F.

    Returns:
        Where each token's occurrences start among all (F+1,), and of these, ascending, position and sentence (P,2).
    """
    starts = np.zeros(n_tokens + 1, np.int64)
    for token in tokens:
        if token >= 0:
            starts[token + 1] += 1
    for token in range(n_tokens):
        starts[token + 1] += starts[token]
    goals = starts[:-1].copy()
    places = np.empty((starts[n_tokens], 2), np.int32)
    for s in range(offsets.size - 1):
        for p in range(offsets[s], offsets[s + 1]):
            token = tokens[p]
            if token >= 0:
                places[goals[token], 0] = p
                places[goals[token], 1] = s
                goals[token] += 1
    return starts, places


@compiled_within
def _add_occurrences(
    occurrences: NDArray[np.int32],
    first: int,
    past: int,
    labels: NDArray[np.int64],
    clusters: NDArray[np.int64],
    held: NDArray[np.int64],
    row: int,
    sums: Any,
) -> None:
    """Add the sums over clusters of a pattern's occurrences from `first` to `past`; `held` is all 0, and is again."""
    inside, sizes, squares, products = sums
    n = 0
    sentence = cluster = -1
    for i in range(first, past + 1):
        s = occurrences[i, 1] if i < past else -1
        if s == sentence:
            continue
        sentence = s
        if i == past or clusters[s] != cluster:
            sizes[row] += n * n
            for label in range(held.size):
                inside[row, label] += held[label]
                squares[row, label] += held[label] * held[label]
                products[row, label] += held[label] * n
                held[label] = 0
            n = 0
            if i == past:
                break
            cluster = clusters[s]
        held[labels[s]] += 1
        n += 1


@compiled
def add_squares(
    begin: int,
    end: int,
    tokens: NDArray[np.int32],
    offsets: NDArray[np.int64],
    labels: NDArray[np.int64],
    clusters: NDArray[np.int64],
    starts: NDArray[np.int64],
    places: NDArray[np.int32],
    n_distances: int,
    tree: Any,
    sums: Any,
) -> None:
    """Add what the patterns that begin with the tokens `begin` to `end` have in sentences that come by cluster.

    Of each pattern n_g sentences of cluster g hold it, n_gl of them with label l.

    Args:
        begin: First token.
        end: The one after the last.
        tokens: The patterns' number of each token of all sentences, -1 for one that no pattern has.
        offsets: Where each sentence starts (N+1,).
        labels: Of each sentence.
        clusters: Of each sentence, ascending.
        starts: Of `place_tokens`.
        places: Of `place_tokens`.
        n_distances: Largest gap + 1.
        tree: Of `PatternTree`: roots, keys, child_starts, row_starts and rows.
        sums: To add to, of each pattern: sum of n_gl, (V, K); of n_g^2, (V,); of n_gl^2, (V, K); of n_gl n_g, (V, K).
    """
    roots, keys, child_starts, row_starts, rows = tree
    n_tokens = roots.size
    held = np.zeros(sums[0].shape[1], np.int64)
    # Which child of the node a token at a distance leads to, -1 for none; and where a child's next occurrence goes.
    child_of = np.full(n_distances * n_tokens, -1, np.int32)
    goals = np.empty(1, np.int64)
    # Nodes that wait, and their occurrences from and to in the arena: position of the last token, and sentence.
    nodes = np.empty((1024, 3), np.int64)
    arena = np.empty((4096, 2), np.int32)
    for token in range(begin, end):
        n_found = starts[token + 1] - starts[token]
        if roots[token] < 0 or n_found == 0:
            continue
        arena = with_room(arena, n_found)
        for i in range(n_found):
            arena[i, 0] = places[starts[token] + i, 0]
            arena[i, 1] = places[starts[token] + i, 1]
        nodes[0, 0] = roots[token]
        nodes[0, 1] = 0
        nodes[0, 2] = n_found
        n_nodes = 1
        while n_nodes > 0:
            n_nodes -= 1
            node = nodes[n_nodes, 0]
            first = nodes[n_nodes, 1]
            past = nodes[n_nodes, 2]
            for i in range(row_starts[node], row_starts[node + 1]):
                _add_occurrences(arena, first, past, labels, clusters, held, rows[i], sums)
            begin_children = child_starts[node]
            n_children = child_starts[node + 1] - begin_children
            if n_children == 0:
                continue
            if goals.size < n_children:
                goals = np.empty(2 * n_children, np.int64)
            for child in range(n_children):
                child_of[keys[begin_children + child]] = child
                goals[child] = 0
            # How many occurrences each child has, then where they go, then the occurrences.
            for step in range(2):
                for i in range(first, past):
                    q = arena[i, 0]
                    s = arena[i, 1]
                    for d in range(1, min(n_distances, offsets[s + 1] - 1 - q) + 1):
                        if tokens[q + d] >= 0:
                            child = child_of[(d - 1) * n_tokens + tokens[q + d]]
                            if child >= 0:
                                if step:
                                    arena[goals[child], 0] = q + d
                                    arena[goals[child], 1] = s
                                goals[child] += 1
                if step == 0:
                    top = past
                    nodes = with_room(nodes, n_nodes + n_children)
                    for child in range(n_children):
                        n_found = goals[child]
                        goals[child] = top
                        if n_found > 0:
                            nodes[n_nodes, 0] = begin_children + child
                            nodes[n_nodes, 1] = top
                            nodes[n_nodes, 2] = top + n_found
                            n_nodes += 1
                            top += n_found
                    arena = with_room(arena, top)
            for child in range(n_children):
                child_of[keys[begin_children + child]] = -1


@compiled_within
def _push_children(
    tokens: Any, q: int, end: int, first: int, past: int, n_distances: int, n_tokens: int, keys: Any, nodes: Any,
    places: Any, height: int,
) -> int:  # fmt: skip
    """Put the children of a node that follow place q in a sentence up to `end` on a stack; returns its height."""
    for d in range(1, min(n_distances, end - 1 - q) + 1):
        if tokens[q + d] < 0:
            continue
        key = (d - 1) * n_tokens + tokens[q + d]
        low = lower_bound(keys, first, past, key)
        if low < past and keys[low] == key:
            nodes[height] = low
            places[height] = q + d
            height += 1
    return height


@compiled_within
def find_part(
    row: int,
    kept: int,
    tokens: NDArray[np.int32],
    gaps: NDArray[np.int64],
    starts: NDArray[np.int64],
    n_distances: int,
    n_tokens: int,
    roots: NDArray[np.int32],
    keys: NDArray[np.int32],
    child_starts: NDArray[np.int32],
) -> int:
    """The node of the pattern that is left of a row when only some of its tokens are kept; -1 where there is none.

    Args:
        row: A pattern.
        kept: Its tokens that are kept, as bits, the first one the lowest.
        tokens: As in `PatternTokens`, with the numbers of the tree, -1 for a token that it lacks.
        gaps: As in `PatternTokens`.
        starts: As in `PatternTokens`.
        n_distances: As in `PatternTree`, as what follows.
        n_tokens: How many tokens the tree has.
        roots: Node of each token as a first one.
        keys: gap times the number of tokens plus token, of each node.
        child_starts: Where each node's children start.
    """
    node = -1
    distance = 0
    for i in range(starts[row + 1] - starts[row]):
        if i > 0:
            distance += gaps[starts[row] - row + i - 1] + 1
        if not (kept >> i) & 1:
            continue
        token = tokens[starts[row] + i]
        if token < 0:
            return -1
        if node < 0:
            node = roots[token]
            if node < 0:
                return -1
        else:
            if distance > n_distances:
                return -1
            key = (distance - 1) * n_tokens + token
            past = child_starts[node + 1]
            node = lower_bound(keys, child_starts[node], past, key)
            if node == past or keys[node] != key:
                return -1
        distance = 0
    return node


@compiled
def mark_parts(
    tokens: NDArray[np.int32],
    gaps: NDArray[np.int64],
    starts: NDArray[np.int64],
    n_distances: int,
    n_tokens: int,
    roots: NDArray[np.int32],
    keys: NDArray[np.int32],
    child_starts: NDArray[np.int32],
) -> NDArray[np.bool_]:
    """Which nodes of a tree are a part of some row and no row themselves; arguments as for `find_part`."""
    wanted = np.zeros(keys.size, np.bool_)
    own = np.zeros(keys.size, np.bool_)
    for row in range(starts.size - 1):
        whole = (1 << (starts[row + 1] - starts[row])) - 1
        for kept in range(1, whole + 1):
            node = find_part(row, kept, tokens, gaps, starts, n_distances, n_tokens, roots, keys, child_starts)
            if node >= 0:
                if kept == whole:
                    own[node] = True
                else:
                    wanted[node] = True
    return wanted & ~own


@compiled
def fold_rows(
    order: NDArray[np.int64],
    labels: NDArray[np.int64],
    support: NDArray[np.int64],
    probability: NDArray[np.float64],
    low: NDArray[np.float64],
    row_starts: NDArray[np.int32],
    rows: NDArray[np.int32],
    tokens: NDArray[np.int32],
    gaps: NDArray[np.int64],
    starts: NDArray[np.int64],
    n_distances: int,
    n_tokens: int,
    roots: NDArray[np.int32],
    keys: NDArray[np.int32],
    child_starts: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Fold each of V rows under a part of itself, as `fold_redundant` describes; W more rows were cut away.

    Args:
        order: The rows in the order in which they are judged, (V,).
        labels: Of the rows and then of those cut away, (V+W,).
        support: Of the rows, (V,).
        probability: Of the rows and then of those cut away, (V+W,).
        low: Lower end of each row's interval, (V,).
        row_starts: Where each node's rows start in `rows`.
        rows: Rows by node, those cut away numbered from V on.
        tokens: As for `find_part`, as what follows.
        gaps: As there.
        starts: As there.
        n_distances: As there.
        n_tokens: As there.
        roots: As there.
        keys: As there.
        child_starts: As there.

    Returns:
        The row that each is folded under, -1 where it stands for itself, (V,).
    """
    n_rows = order.size
    head = np.full(n_rows, -1, np.int64)
    stands = np.zeros(n_rows, np.bool_)
    # For each row cut away, the first row that stands for itself and contains it.
    holder = np.full(labels.size, -1, np.int64)
    longest = 1
    for row in range(n_rows):
        longest = max(longest, starts[row + 1] - starts[row])
    nodes = np.empty(1 << longest, np.int64)
    for row in order:
        whole = (1 << (starts[row + 1] - starts[row])) - 1
        # Not -1 itself, for which numba would compile `_first` once more.
        taker = np.int64(-1)
        for kept in range(1, whole):
            node = find_part(row, kept, tokens, gaps, starts, n_distances, n_tokens, roots, keys, child_starts)
            nodes[kept] = node
            if node < 0:
                continue
            for i in range(row_starts[node], row_starts[node + 1]):
                part = np.int64(rows[i])
                if part < n_rows and stands[part] and labels[part] == labels[row] and low[row] <= probability[part]:
                    taker = _first(taker, part, support)
        if taker < 0:
            for kept in range(1, whole):
                if nodes[kept] < 0:
                    continue
                for i in range(row_starts[nodes[kept]], row_starts[nodes[kept] + 1]):
                    part = np.int64(rows[i])
                    if holder[part] >= 0 and labels[part] == labels[row] and low[row] <= probability[part]:
                        taker = _first(taker, holder[part], support)
        head[row] = taker
        if taker < 0:
            stands[row] = True
            for kept in range(1, whole):
                if nodes[kept] < 0:
                    continue
                for i in range(row_starts[nodes[kept]], row_starts[nodes[kept] + 1]):
                    part = np.int64(rows[i])
                    if part >= n_rows and labels[part] == labels[row] and holder[part] < 0:
                        holder[part] = row
    return head


@compiled_within
def _first(taker: int, other: int, support: NDArray[np.int64]) -> int:
    """Of two rows the more frequent, of equally frequent ones the first; `taker` may be -1 for none."""
    if taker < 0 or support[other] > support[taker] or (support[other] == support[taker] and other < taker):
        return other
    return taker
