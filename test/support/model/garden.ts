/** English articles for the careless model: every text once, with numbers, links, bold words and terms that recur. */
import type { Block, DocumentJson } from '../../../src/document/format/schema.ts';
import { draw, pick } from './draw.ts';

/** Terms, and the renderings that a model without a list wavers between. None is part of another. */
export const GARDEN_TERMS: Readonly<Record<string, readonly string[]>> = {
  'raised bed': ['bancal elevado', 'cama alta', 'arriate en alto'],
  'rain barrel': ['barril de lluvia', 'depósito pluvial', 'tonel de agua'],
  compost: ['compostaje', 'abono', 'mantillo'],
  seedling: ['plántula', 'plantón', 'brote'],
  mulch: ['acolchado', 'cobertura', 'paja'],
  trellis: ['espaldera', 'enrejado', 'celosía'],
  greenhouse: ['invernadero', 'estufa fría', 'cajonera'],
  'crop rotation': ['rotación de cultivos', 'alternancia de siembras', 'turno de huerta'],
};
const TERMS = Object.keys(GARDEN_TERMS);
const PLACES = ['beside the wall', 'near the gate', 'behind the shed', 'along the path', 'under the old oak'];
const PEOPLE = ['The teachers', 'Our neighbours', 'Two pupils', 'The parents', 'Volunteers'];
const SENTENCES: readonly ((one: string, other: string, number: number, place: string) => string)[] = [
  (one, other, number, place) =>
    `The ${one} stands ${place} and needs ${number} litres of water before the ${other} is ready.`,
  (one, other, number, place) =>
    `Check the ${one} every ${number} days, because a dry ${other} ${place} is hard to save.`,
  (one, other, number) =>
    `With ${number} grams of lime the ${one} recovers, as long as the ${other} gets enough light.`,
  (one, other, number, place) =>
    `Measure ${number} centimetres ${place}, then move the ${one} closer to the ${other}.`,
];

/** A sentence with two terms and a number; another seed, another sentence. */
export function gardenSentence(seed: string, number: number): string {
  const one = pick(TERMS, seed, 'one');
  const others = TERMS.filter((term) => term !== one);
  const sentence = pick(SENTENCES, seed, 'sentence');
  return sentence(one, pick(others, seed, 'other'), number, pick(PLACES, seed, 'place'));
}

/**
 * An article of so many paragraphs, every second with bold words and a link, with a heading before every tenth.
 * @param seed another seed, other texts
 */
export function gardenDocument(paragraphs: number, seed = 'garden'): DocumentJson {
  const blocks: Block[] = [];
  for (let place = 0; place < paragraphs; place += 1) {
    if (place % 10 === 0) {
      const text = `Week ${place / 10 + 1}: the ${pick(TERMS, seed, place)} of the ${seed}`;
      blocks.push({ id: `h${place}`, type: 'heading', level: 2, text });
    }
    const small = 2 + Math.floor(draw(seed, place, 'small') * 7);
    const page = `page ${place + 11} of the ${seed} diary`;
    const where = place % 2 === 0 ? page : `**${page}**, [next to the map](https://garden.example/map)`;
    const sentences = [place * 10 + small, small].map((number, index) =>
      gardenSentence(`${seed} ${place} ${index}`, number),
    );
    const text = `${pick(PEOPLE, seed, place)} wrote this on ${where}. ${sentences.join(' ')}`;
    blocks.push({ id: `p${place}`, type: 'paragraph', format: 'markdown', text });
  }
  return { version: 1, blocks };
}

/** How the terms came out: of all their renderings, the share that is the most usual one of its term. */
export function agreementOf(texts: readonly string[]): { share: number; renderings: number } {
  const all = texts.join('\n').toLowerCase();
  const counts = Object.values(GARDEN_TERMS).map((known) =>
    known.map((rendering) => all.split(rendering).length - 1),
  );
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
  const renderings = sum(counts.map(sum));
  return { share: sum(counts.map((known) => Math.max(...known))) / renderings, renderings };
}
