const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML, in an element or a quoted attribute. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);

const STYLE = `
:root{color-scheme:light dark;--back:light-dark(#fff,#14171c);--text:light-dark(#1c2128,#e4e8ee);--quiet:light-dark(#59636e,#9aa5b1);
--line:light-dark(#d9dee4,#323943);--soft:light-dark(#f5f7f9,#1b1f26);--mark:light-dark(#e4ebf5,#28303c);--accent:light-dark(#0b57c4,#7db2ff);
--n:light-dark(#0b4f9e,#8fc1ff);--s:light-dark(#1a6b2f,#94d6a3);--w:light-dark(#9a4a00,#f0b072);--r:light-dark(#b0241c,#ff9c94)}
*{box-sizing:border-box}body{margin:0;font:16px/1.55 system-ui,sans-serif;background:var(--back);color:var(--text)}
main{max-width:60rem;margin:0 auto;padding:2rem 1.25rem 6rem}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .6rem}h2{margin:2.5rem 0 .5rem;border-bottom:1px solid var(--line);padding-bottom:.2rem}h3{margin:2rem 0 .3rem}
a{color:var(--accent)}a:focus-visible,button:focus-visible,input:focus-visible,pre:focus-visible,summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
code,pre{font:13px/1.5 ui-monospace,monospace}code{background:var(--mark);padding:.1em .3em;border-radius:4px;overflow-wrap:anywhere}
pre{background:var(--soft);border:1px solid var(--line);padding:.8rem 1rem;border-radius:8px;overflow:auto;margin:.4rem 0 1rem}pre code{background:none;padding:0;overflow-wrap:normal}
.block{position:relative}.copy{position:absolute;top:.45rem;right:.45rem;opacity:0}.block:hover .copy,.copy:focus-visible{opacity:1}
.n{color:var(--n)}.s{color:var(--s)}.w{color:var(--w)}
summary{cursor:pointer}.muted{color:var(--quiet)}
.method{display:inline-block;font:700 .72rem/1.6 ui-monospace,monospace;padding:0 .4em;border-radius:5px;border:1px solid currentColor}
.get{color:var(--n)}.post{color:var(--s)}.put,.patch{color:var(--w)}.delete{color:var(--r)}`;

export interface PageParts {
  readonly title: string;
  /** Trusted HTML. */
  readonly body: string;
  /** Added to the style of every page. */
  readonly style?: string;
  /** Runs at the end of the body; the page's CSP has to allow it by its hash. */
  readonly script?: string;
}

/** A whole page that loads nothing from outside. */
export const renderPage = ({ title, body, style = '', script }: PageParts): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
  `<title>${escapeHtml(title)}</title><link rel="icon" href="data:,"><style>${STYLE}${style}</style></head>` +
  `<body>${body}${script === undefined ? '' : `<script>${script}</script>`}</body></html>`;
