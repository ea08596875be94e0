import type { AssetId } from '../../ids.ts';
import type { DocumentJson } from '../format/schema.ts';

/** An image of the source: its row's fields, for the copy that the translation gets. */
export interface SourceAsset {
  readonly id: AssetId;
  readonly role: 'hero' | 'inline';
  readonly contentHash: string;
  readonly mediaType: string;
  readonly byteSize: number;
  readonly fileName: string;
  readonly altText: string;
}

/** What a job translates: the source as it was when the job was created, whatever is edited later. */
export interface Snapshot {
  readonly title: string;
  readonly metaTitle: string | null;
  readonly metaDescription: string | null;
  readonly targetKeywords: readonly string[];
  readonly secondaryKeywords: readonly string[];
  readonly document: DocumentJson;
  /** The cover included. */
  readonly assets: readonly SourceAsset[];
}
