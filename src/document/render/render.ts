/** Rendering a document for readers: contentHtml and contentMarkdown. */

export { dropDeadLinks } from '../format/links.ts';
export { renderHtml } from './html.ts';
export { renderMarkdown } from './markdown.ts';
export { codeLanguage, type Resolver } from './shared.ts';
