import type { SourceId } from '../../ids.ts';

/** A part of a source's text: a paragraph, or sentences of a long one. */
export interface Passage {
  readonly sourceId: SourceId;
  /** Stands word for word in the source's text. */
  readonly text: string;
  /** Higher is nearer to the claim; always above 0. */
  readonly score: number;
}
