import type { SourceId } from '../../ids.ts';

/** A source as notes and passages refer to it. */
export interface SourceText {
  readonly id: SourceId;
  readonly title: string;
  readonly text: string;
}

/** A quote of a source. */
export interface Note {
  readonly sourceId: SourceId;
  readonly quote: string;
}
