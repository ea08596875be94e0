/**
 * Enhances the page: search, current section in the menu, copy buttons, this service's address in the examples, light
 * and dark. The page works without it. It runs in the browser as it is, so it is plain JavaScript.
 */
export const REFERENCE_SCRIPT = `'use strict';
const $ = (selector, root = document) => [...root.querySelectorAll(selector)];
const [search] = $('#search'), [found] = $('#found'), [menu] = $('#menu'), [scheme] = $('#scheme');
const entries = $('#menu li').map((item) => ({ item, link: item.firstElementChild, words: item.dataset.words }));
const narrow = matchMedia('(max-width: 56rem)');
menu.open = !narrow.matches;
narrow.addEventListener('change', () => { menu.open = !narrow.matches; });

const matching = () => entries.filter(({ item }) => !item.hidden);
const filter = () => {
  const wanted = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  for (const { item, words } of entries) item.hidden = !wanted.every((word) => words.includes(word));
  for (const group of $('#menu .group')) group.hidden = $('li:not([hidden])', group).length === 0;
  const count = matching().length;
  found.textContent = wanted.length === 0 ? '' : count === 0 ? 'Nothing found' : count + ' of ' + entries.length;
  if (wanted.length > 0) menu.open = true;
};
search.hidden = false;
search.addEventListener('input', filter);
search.addEventListener('keydown', (event) => {
  const [first] = matching();
  if (event.key === 'Escape') { search.value = ''; filter(); search.blur(); }
  if (event.key === 'ArrowDown' && first) { event.preventDefault(); first.link.focus(); }
  if (event.key === 'Enter' && first) first.link.click();
});
menu.addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const shown = matching();
  const at = shown.findIndex(({ link }) => link === document.activeElement);
  if (at < 0) return;
  event.preventDefault();
  (shown[at + step]?.link ?? search).focus();
});
menu.addEventListener('click', (event) => {
  if (narrow.matches && event.target.closest('li a')) menu.open = false;
});
addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target === search) return;
  event.preventDefault();
  search.focus();
});

const byId = new Map(entries.map(({ link }) => [link.hash.slice(1), link]));
const seen = new IntersectionObserver((changes) => {
  for (const { target, isIntersecting } of changes) {
    const link = byId.get(target.id);
    if (!isIntersecting || !link) continue;
    for (const { link: other } of entries) other.removeAttribute('aria-current');
    link.setAttribute('aria-current', 'true');
    if (!narrow.matches) link.scrollIntoView({ block: 'nearest' });
  }
}, { rootMargin: '0px 0px -75% 0px' });
for (const id of byId.keys()) { const part = document.getElementById(id); if (part) seen.observe(part); }

if (location.protocol.startsWith('http')) for (const base of $('.base')) base.textContent = location.origin;
for (const block of $('.block')) {
  const button = document.createElement('button');
  button.className = 'copy';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', 'Copy: ' + block.firstElementChild.getAttribute('aria-label'));
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.firstElementChild.textContent);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  });
  block.append(button);
}

const root = document.documentElement;
const chosen = () => { try { return localStorage.getItem('color-scheme'); } catch { return null; } };
const show = (name) => { root.style.colorScheme = name ?? ''; };
show(chosen());
scheme.hidden = false;
scheme.addEventListener('click', () => {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const next = (root.style.colorScheme || (dark ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark';
  show(next);
  try { localStorage.setItem('color-scheme', next); } catch { /* A private window keeps nothing. */ }
});
`;
