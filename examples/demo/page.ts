import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Article, Asset } from '../client/api.ts';

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/**
 * Writes an article as a page that a browser opens from the disk, with its images beside it: the cover first.
 * @param folder is emptied
 * @returns the page's path
 */
export async function writePage(
  folder: string,
  url: string,
  article: Article,
  assets: readonly Asset[],
): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  let body = article.contentHtml ?? '';
  for (const { url: address, thumbnailUrl, fileName } of assets) {
    await download(url + address, path.join(folder, fileName));
    if (thumbnailUrl !== null) await download(url + thumbnailUrl, path.join(folder, `thumbnail-${fileName}`));
    body = body.replaceAll(address, fileName);
  }
  const cover = assets.find(({ role }) => role === 'hero');
  const page = path.join(folder, 'article.html');
  await writeFile(
    page,
    `<!doctype html>
<html lang="${escaped(article.primaryLanguage)}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(article.title)}</title>
<style>body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 1.05rem/1.6 system-ui } img { max-width: 100%; height: auto }</style>
${cover === undefined ? '' : `<img src="${cover.fileName}" alt="${escaped(cover.altText)}">`}
<h1>${escaped(article.title)}</h1>
${body}
</html>
`,
  );
  return page;
}

async function download(from: string, to: string): Promise<void> {
  const response = await fetch(from);
  if (!response.ok) throw new Error(`${from} responded with ${response.status}`);
  await writeFile(to, new Uint8Array(await response.arrayBuffer()));
}
