/** Rendering a document for readers: contentHtml and contentMarkdown. */

export { dropDeadLinks } from './links.ts';
export { renderHtml } from './render-html.ts';
export { renderMarkdown } from './render-markdown.ts';
export { codeLanguage, type Resolver } from './render-shared.ts';
