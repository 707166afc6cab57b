"""Tables as LaTeX."""

from __future__ import annotations

from goldassay.core.sections import Column, Table, with_bounds
from goldassay.report.paper import write_table


def lines(table: Table) -> list[str]:
    return write_table(table).splitlines()


def test_rules_divide_head_and_blocks_and_styles_set_rows() -> None:
    columns = (Column("title", "Statistic", absent=""), Column("d", "a_b", sort="n", absent=""))
    rows = (
        {"block": 0, "style": "heading", "title": "m_1"},
        {"block": 0, "title": "√(Total Var)", "d": "1.20 ± 0.10"},
        {"block": 0, "style": "small", "title": "", "d": "[1.1, −1.3]"},
        {"block": 1, "title": "±√(|Cov|)", "d": "—"},
    )
    table = Table("t", "Roots\nof 95 %.", columns, rows, grouped_by="block")
    assert lines(table) == [
        "% Roots of 95 %.",
        r"% Needs \usepackage{booktabs} and \usepackage[T1]{fontenc}.",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"Statistic & a\_b \\",
        r"\midrule",
        r"\textit{m\_1} &  \\",
        r"$\sqrt{\mathrm{Total\ Var}}$ & 1.20 $\pm$ 0.10 \\",
        r" & {\scriptsize [1.1, $-$1.3]} \\",
        r"\midrule",
        r"$\pm\sqrt{|\mathrm{Cov}|}$ & --- \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_intervals_are_smaller_and_probabilities_are_variables() -> None:
    columns = (
        Column("of", "Of", "data"),
        with_bounds("x", "Value", "points"),
        Column("", "95\N{NARROW NO-BREAK SPACE}% interval", "interval", low="x_low", high="x_high", absent=""),
        Column("p", "p", "probability"),
    )
    rows = ({"of": "√(x)", "x": 0.5, "x_low": 0.4, "x_high": 0.6, "p": 0.02}, {"of": "b", "x": 0.1})
    found = lines(Table("t", "T", columns, rows))
    assert found[2] == r"\begin{tabular}{lrlr}"
    assert found[4] == r"Of & Value & 95\,\% interval & $p$ \\"
    # A name out of the data is no formula.
    assert found[6] == r"√(x) & 50.0 {\scriptsize [40.0, 60.0]} & {\scriptsize [40.0, 60.0]} & 0.020 \\"
    assert found[7] == r"b & 10.0 &  & --- \\"
