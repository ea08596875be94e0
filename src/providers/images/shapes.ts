/** Shapes of which placeholders are made. */
import { createHash } from 'node:crypto';
import { IMAGE_SIZE } from '../image-model.ts';

export const { width: WIDTH, height: HEIGHT } = IMAGE_SIZE;

export type Point = readonly [x: number, y: number];

/** Numbers that look random and are the same for the same seed. */
export class Chance {
  private state: number;

  constructor(seed: string) {
    this.state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  }

  /** From 0 to 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  between(least: number, most: number): number {
    return least + (most - least) * this.next();
  }

  whole(least: number, most: number): number {
    return Math.floor(this.between(least, most + 1));
  }

  pick<Item>(first: Item, ...others: readonly Item[]): Item {
    return [first, ...others][this.whole(0, others.length)] ?? first;
  }
}

/** A placeholder drawn by chance: definitions first, then what is drawn, from back to front. */
export type Scene = (chance: Chance) => readonly string[];

export const times = <Result>(count: number, make: (index: number) => Result): Result[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** @param lightness in per cent, as saturation */
export const hsl = (hue: number, saturation: number, lightness: number): string =>
  `hsl(${Math.round(((hue % 360) + 360) % 360)},${Math.round(saturation)}%,${Math.round(lightness)}%)`;

const at = (value: number): string => value.toFixed(1);

export const background = (fill: string): string =>
  `<rect width="${WIDTH}" height="${HEIGHT}" fill="${fill}"/>`;

export const circle = ([x, y]: Point, radius: number, style: string): string =>
  `<circle cx="${at(x)}" cy="${at(y)}" r="${at(radius)}" ${style}/>`;

export const ellipse = ([x, y]: Point, [rx, ry]: Point, style: string): string =>
  `<ellipse cx="${at(x)}" cy="${at(y)}" rx="${at(rx)}" ry="${at(ry)}" ${style}/>`;

export const rectangle = ([x, y]: Point, [width, height]: Point, style: string, round = 0): string =>
  `<rect x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(height)}" rx="${round}" ${style}/>`;

export const line = (points: readonly Point[], style: string): string =>
  `<polyline points="${points.map(([x, y]) => `${at(x)},${at(y)}`).join(' ')}" fill="none" ${style}/>`;

export const polygon = (points: readonly Point[], style: string): string =>
  `<polygon points="${points.map(([x, y]) => `${at(x)},${at(y)}`).join(' ')}" ${style}/>`;

/** A closed curve through the middles of these points. */
export function blob(points: readonly Point[], style: string): string {
  const middle = ([x, y]: Point, [otherX, otherY]: Point): string =>
    `${at((x + otherX) / 2)} ${at((y + otherY) / 2)}`;
  const after = (index: number): Point => points[index % points.length] ?? [0, 0];
  const curves = points.map(
    (point, index) => `Q${at(point[0])} ${at(point[1])} ${middle(point, after(index + 1))}`,
  );
  return `<path d="M${middle(after(points.length - 1), after(0))}${curves.join('')}Z" ${style}/>`;
}

/** Points around a centre, at distances that vary by this share. */
export const around = (chance: Chance, [x, y]: Point, radius: Point, vary: number, count = 12): Point[] =>
  times(count, (index) => {
    const angle = (2 * Math.PI * index) / count;
    const far = 1 + vary * (2 * chance.next() - 1);
    return [x + radius[0] * far * Math.cos(angle), y + radius[1] * far * Math.sin(angle)];
  });

/** Land from a line of hills down to the lower edge. */
export function ridge(chance: Chance, height: number, rise: number, style: string, steps = 7): string {
  const line = times(
    steps + 1,
    (index): Point => [(WIDTH * index) / steps, height - rise * chance.next() * (index % 2 === 0 ? 1 : 0.35)],
  );
  const before: Point = [-WIDTH / steps, height];
  const behind: Point = [WIDTH * (1 + 1 / steps), height];
  const below: Point[] = [
    [WIDTH * 1.3, HEIGHT * 1.4],
    [-WIDTH * 0.3, HEIGHT * 1.4],
  ];
  return blob([before, ...line, behind, ...below], style);
}

/** A gradient by its colours, evenly spread. */
export function gradient(
  id: string,
  colours: readonly string[],
  kind: 'down' | 'slanted' | 'ball' = 'down',
): string {
  const stops = colours
    .map(
      (colour, index) =>
        `<stop offset="${(index / (colours.length - 1)).toFixed(2)}" stop-color="${colour}"/>`,
    )
    .join('');
  if (kind === 'ball') return `<radialGradient id="${id}" cx=".36" cy=".3" r=".75">${stops}</radialGradient>`;
  const [x, y] = kind === 'down' ? [0, 1] : [1, 1];
  return `<linearGradient id="${id}" x1="0" y1="0" x2="${x}" y2="${y}">${stops}</linearGradient>`;
}

export const blur = (id: string, by: number): string =>
  `<filter id="${id}" x="-40%" y="-40%" width="180%" height="180%"><feGaussianBlur stdDeviation="${by}"/></filter>`;
