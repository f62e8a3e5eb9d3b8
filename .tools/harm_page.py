"""What ./run experiment harm shows: a table as text, and a page that opens offline."""

import html

import harm_judge

COMPARED = ("cubic", "bbr", "bbr3")
HEADINGS = ("worst", "case", "law", *harm_judge.BOUNDS, "Mb/s", "drops", "p95 ms", "ping ms", "others")
STYLE = """
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; color: #222; background: #fff }
table { border-collapse: collapse; margin: 1em 0 }
th, td { padding: .2em .6em; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap }
th { position: sticky; top: 0; background: #f4f4f4 }
td.text, th.text { text-align: left; white-space: normal }
td.bad { background: #f7c6c0 } td.near { background: #fdf0c8 } td.good { background: #dcefdc }
small { color: #666 }
.answer { font-size: 1.3em; font-weight: 600 }
@media (max-width: 80em) { .scroll { overflow-x: auto } }
"""


def texts_of(verdict, name, scale=1.0, digits=0):
    """Of the law and of those it is compared with."""
    values = [getattr(verdict.by_sender[sender], name) for sender in (verdict.law, *COMPARED)]
    return "/".join("-" if value is None else f"{value * scale:.{digits}f}" for value in values)


def figures_text(verdict):
    """Goodput, drops, delay, ping and others: of the law, CUBIC, BBR and BBR 3."""
    digits = 2 if verdict.network.bottleneck >= 1e6 else 4
    return [texts_of(verdict, "goodput", 1e-6, digits), texts_of(verdict, "drops"), texts_of(verdict, "server_to_ue_delay_p95_ms"),
            texts_of(verdict, "ping_p95_ms"), texts_of(verdict, "other_goodput_share", 1, 2) if "others" in verdict.ratios else ""]


def ratio_text(ratio):
    return "" if ratio is None else f"{ratio:.2f}" + (" *" if ratio < 1 else "")


def ordered(verdicts):
    """Worst first."""
    return sorted(verdicts, key=lambda each: (each.score, each.network.name))


def table(verdicts, rows=None):
    """As text; a star stands where a bound is broken."""
    lines = [HEADINGS]
    lines += [(f"{each.score:.2f}", each.network.name, each.law, *(ratio_text(each.ratios.get(bound)) for bound in harm_judge.BOUNDS),
               *figures_text(each)) for each in ordered(verdicts)[:rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADINGS))]
    text = "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)
    return text + "\nFigures: law/cubic/bbr/bbr3. A ratio of 1 or more keeps the bound."


def by_kind(verdicts):
    """[(kind, law, verdicts)]"""
    groups = {}
    for verdict in verdicts:
        groups.setdefault((verdict.network.kind, verdict.law), []).append(verdict)
    return [(*key, each) for key, each in sorted(groups.items())]


def broken(verdicts, bound):
    return sum(verdict.ratios.get(bound, 1) < 1 for verdict in verdicts)


def summary(verdicts):
    """How many keep every bound, and for each kind of network which bounds are broken."""
    lines = []
    for kind, law, each in by_kind(verdicts):
        said = ", ".join(f"{bound} {broken(each, bound)}" for bound in harm_judge.BOUNDS if broken(each, bound)) or "every bound holds"
        lines.append(f"{kind:12} {law:10} {sum(v.holds for v in each):3} of {len(each):3} hold: {said}")
    return "\n".join([*lines, f"{sum(v.holds for v in verdicts)} of {len(verdicts)} hold every bound"])


def answer(verdicts):
    """States first what was found: how many runs keep every bound, which bound is broken most, and the worst run."""
    if not verdicts:
        return "No network was run."
    text = f"The law keeps every bound in {sum(v.holds for v in verdicts)} of {len(verdicts)} runs."
    broken_runs = {bound: broken(verdicts, bound) for bound in harm_judge.BOUNDS}
    most = max(broken_runs, key=broken_runs.get)
    worst = ordered(verdicts)[0]
    if broken_runs[most]:
        text += f" The bound of {most} is broken most often, in {broken_runs[most]} runs."
    return text + f" The worst ratio is {worst.score:.2f}, in {worst.network.name} with the law {worst.law}."


def cell(text, kind=""):
    return f'<td class="{kind}">{html.escape(text)}</td>' if kind else f"<td>{html.escape(text)}</td>"


def ratio_cell(ratio):
    kind = "" if ratio is None else "bad" if ratio < 1 else "near" if ratio < 1.1 else "good"
    return cell("" if ratio is None else f"{ratio:.2f}", kind)


def table_of(headings, rows):
    head = "".join(f'<th class="text">{html.escape(each)}</th>' if each in ("case", "law", "kind") else f"<th>{html.escape(each)}</th>" for each in headings)
    return f"<div class=\"scroll\"><table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{row}</tr>' for row in rows)}</tbody></table></div>"


def page(verdicts, measured):
    """The whole report in HTML."""
    kinds = [cell(kind, "text") + cell(law, "text") + cell(f"{sum(v.holds for v in each)} of {len(each)}")
             + "".join(cell(str(broken(each, bound)), "bad" if broken(each, bound) else "good") for bound in harm_judge.BOUNDS)
             for kind, law, each in by_kind(verdicts)]
    cases = [ratio_cell(each.score) + cell(each.network.name, "text") + cell(each.law, "text")
             + "".join(ratio_cell(each.ratios.get(bound)) for bound in harm_judge.BOUNDS) + "".join(map(cell, figures_text(each)))
             for each in ordered(verdicts)]
    bounds = "".join(f"<li>{html.escape(text)}</li>" for text in harm_judge.BOUNDS_IN_WORDS)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Where the ACK-based controller does harm</title><style>{STYLE}</style></head><body>
<h1>Where the ACK-based controller does harm</h1>
<p class="answer">{html.escape(answer(verdicts))}</p>
<p>Each network runs with CUBIC, BBR and BBR 3 without a proxy, and with the law on split connections and on connections that stay end to
end. A ratio says how far the law is within a bound: 1 or more keeps it. {html.escape(measured)}.</p><ul>{bounds}</ul>
<h2>Broken bounds, by kind of network</h2>{table_of(("kind", "law", "hold all", *harm_judge.BOUNDS), kinds)}
<h2>Every network, worst first</h2><p><small>Figures: law/CUBIC/BBR/BBR 3.</small></p>{table_of(HEADINGS, cases)}
</body></html>
"""
