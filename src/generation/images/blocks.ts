/** The blocks that show the images of an article. */
import type { Block, DocumentJson } from '../../document/format/schema.ts';
import type { Outline } from '../outline.ts';
import type { PlacedBlocks } from '../writing/assemble.ts';
import { blockId } from '../writing/markdown/blocks.ts';
import type { GenerationImage } from './images.ts';

/** No section has this id: those of an outline begin with no space. */
const IMAGE_IDS = ' images';

/**
 * The blocks of the images in the text that have a prompt, behind their sections, or behind the lead for one that is not in the
 * outline.
 */
export function blocksOf(
  images: readonly GenerationImage[],
  { sections }: Pick<Outline, 'sections'>,
): PlacedBlocks {
  const placed = new Map<string | null, Block[]>();
  for (const { number, role, state, section, asset_id, alt_text, caption } of images) {
    if (role !== 'inline' || state === 'planned' || state === 'failed') continue;
    const block: Block = {
      id: blockId(IMAGE_IDS, number),
      type: 'image',
      assetId: asset_id,
      altText: alt_text ?? '',
      ...(caption === null ? {} : { caption }),
    };
    const place = sections.some(({ id }) => id === section) ? section : null;
    placed.set(place, [...(placed.get(place) ?? []), block]);
  }
  return placed;
}

/** The document without the blocks of a run's images that were not delivered. */
export const withoutMissing = (
  document: DocumentJson,
  missing: readonly Pick<GenerationImage, 'asset_id'>[],
): DocumentJson => {
  const ids = new Set<string>(missing.map(({ asset_id }) => asset_id));
  return {
    ...document,
    blocks: document.blocks.filter((block) => block.type !== 'image' || !ids.has(block.assetId)),
  };
};
