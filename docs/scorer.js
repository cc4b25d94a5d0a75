// How-to pages come first and the reference comes last; a search for a full name leads to its entry.
// Sphinx calls `score` for each result, and takes the other values from its own scorer.
var Scorer = {
  score: ([page, title, anchor, description, score, file, kind]) => {
    const query = new URLSearchParams(window.location.search).get("q") ?? "";
    if (kind === "object" && title.replace("()", "") === query) return score + 400;
    if (kind === "index") return score;
    if (page.startsWith("howto/")) return score + 200;
    if (/^(start|faq|glossary)$/.test(page)) return score + 150;
    return page.startsWith("reference/") && !page.startsWith("reference/command-line") ? score : score + 100;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
