const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as it may stand in HTML, in an element or a quoted attribute. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);

const STYLE = `
:root{color-scheme:light dark;--line:color-mix(in srgb,currentColor 18%,transparent);--soft:color-mix(in srgb,currentColor 6%,transparent)}
*{box-sizing:border-box}body{margin:0;font:16px/1.55 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:2rem 1.25rem 6rem}
h1{font-size:1.9rem;margin:0 0 .5rem}h2{margin:3rem 0 .5rem;border-bottom:1px solid var(--line)}h3{margin:2rem 0 .3rem}
code,pre{font:13.5px/1.5 ui-monospace,monospace}code{background:var(--soft);padding:.1em .3em;border-radius:4px}
pre{background:var(--soft);padding:.8rem 1rem;border-radius:8px;overflow:auto}pre code{background:none;padding:0}
table{border-collapse:collapse;width:100%;margin:.6rem 0}td,th{border-bottom:1px solid var(--line);padding:.35rem .6rem .35rem 0;text-align:left;vertical-align:top}
a{color:LinkText}nav ul{list-style:none;padding:0;columns:20rem}summary{cursor:pointer}
section{border:1px solid var(--line);border-radius:10px;padding:0 1.25rem 1rem;margin:1.25rem 0}
.method{font-weight:700;text-transform:uppercase;margin-right:.5rem}.muted{opacity:.7}`;

/** A whole page: no script, no outside resource. `body` is trusted HTML. */
export const renderPage = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
  `<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body><main>${body}</main></body></html>`;
