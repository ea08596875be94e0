/** Renders a document as a pure function. Addresses of linked articles and images are spliced in later. */
import type { DocumentJson } from '../format/schema.ts';
import { renderHtml } from './html.ts';
import { renderMarkdown } from './markdown.ts';
import { locatePlaces, markPlaces, type Places, takeMarks } from './places.ts';

/** contentHtml and contentMarkdown without links to articles and without images. */
export interface Rendered {
  readonly html: string;
  readonly markdown: string;
  /** The places of links and images; null without any. */
  readonly places: Places | null;
}

/** Renders a valid document. Its texts must not contain NUL characters. */
export function renderDocument(document: DocumentJson): Rendered {
  const marked = markPlaces(document);
  const html = renderHtml(marked.document);
  const markdown = renderMarkdown(marked.document);
  if (marked.links.length + marked.images.length === 0) return { html, markdown, places: null };
  const unmarked = { html: takeMarks(html, '\n'), markdown: takeMarks(markdown, '\n\n') };
  return {
    html: unmarked.html.text,
    markdown: unmarked.markdown.text,
    places: locatePlaces(marked, unmarked.html, unmarked.markdown),
  };
}
