/** Placeholders that show a piece of land, without letters. */
import {
  around,
  background,
  blob,
  blur,
  circle,
  ellipse,
  gradient,
  HEIGHT,
  hsl,
  type Point,
  polygon,
  rectangle,
  ridge,
  type Scene,
  times,
  WIDTH,
} from './shapes.ts';

/** Hills in the haze behind a lake, with the sun in both. */
export const photorealistic: Scene = (chance) => {
  const hue = chance.between(195, 235);
  const warm = chance.between(18, 42);
  const shore = HEIGHT * chance.between(0.6, 0.68);
  const sun: Point = [WIDTH * chance.between(0.2, 0.8), shore * chance.between(0.26, 0.44)];
  const hills = times(5, (index) => {
    const height = shore - 190 + index * 46;
    return ridge(
      chance,
      height,
      190 - index * 26,
      `fill="${hsl(hue + index * 3, 16 + index * 5, 74 - index * 12)}"`,
    );
  });
  const glints = times(46, () => {
    const y = chance.between(shore + 14, HEIGHT);
    const near = (y - shore) / (HEIGHT - shore);
    const x = sun[0] + (chance.next() - 0.5) * (140 + 420 * near);
    return ellipse(
      [x, y],
      [18 + 70 * near * chance.next(), 1 + 2.5 * near],
      `fill="${hsl(warm, 90, 86)}" opacity=".4"`,
    );
  });
  return [
    gradient('sky', [hsl(hue, 48, 46), hsl(hue - 12, 40, 70), hsl(warm, 74, 82)]),
    gradient('water', [hsl(warm, 40, 70), hsl(hue, 34, 48), hsl(hue, 44, 22)]),
    blur('soft', 38),
    blur('haze', 3),
    background('url(#sky)'),
    circle(sun, 190, `fill="${hsl(warm, 96, 84)}" opacity=".75" filter="url(#soft)"`),
    circle(sun, 46, `fill="${hsl(warm, 100, 95)}"`),
    `<g filter="url(#haze)">${hills.join('')}</g>`,
    rectangle([0, shore], [WIDTH, HEIGHT - shore], 'fill="url(#water)"'),
    ...glints,
    ridge(chance, HEIGHT - 12, 80, `fill="${hsl(hue + 10, 30, 10)}"`, 9),
  ];
};

/** Flat land, one sun, one tree. */
export const minimalistVector: Scene = (chance) => {
  const hue = chance.between(0, 360);
  const [dark, middle, light] = [hsl(hue, 38, 34), hsl(hue, 42, 58), hsl(hue, 46, 90)];
  const foot: Point = [WIDTH * chance.between(0.2, 0.45), HEIGHT * 0.77];
  const crown = chance.between(86, 116);
  return [
    background(light),
    circle(
      [WIDTH * chance.between(0.55, 0.8), HEIGHT * chance.between(0.3, 0.44)],
      128,
      `fill="${hsl(hue + 150, 66, 66)}"`,
    ),
    ridge(chance, HEIGHT * 0.7, 150, `fill="${middle}"`, 4),
    rectangle([foot[0] - 8, foot[1] - 250], [16, 270], `fill="${dark}"`),
    ellipse([foot[0], foot[1] - 270], [crown, crown * 1.35], `fill="${dark}"`),
    ridge(chance, HEIGHT * 0.86, 90, `fill="${dark}"`, 3),
  ];
};

/** A low light behind dark land, between black bars. */
export const cinematic: Scene = (chance) => {
  const cold = chance.between(185, 215);
  const warm = chance.between(14, 34);
  const light: Point = [WIDTH * chance.between(0.3, 0.7), HEIGHT * 0.6];
  const rays = times(7, (index) => {
    const angle = Math.PI * (1.12 + index * 0.11 + chance.next() * 0.05);
    const end = (wide: number): Point => [
      light[0] + 1_500 * Math.cos(angle + wide),
      light[1] + 1_500 * Math.sin(angle + wide),
    ];
    return polygon([light, end(-0.025), end(0.025)], `fill="${hsl(warm, 90, 74)}" opacity=".1"`);
  });
  const walker: Point = [light[0] + chance.between(-160, 160), HEIGHT * 0.735];
  const bar = HEIGHT * 0.11;
  return [
    gradient('dusk', [hsl(cold, 60, 8), hsl(cold, 48, 20), hsl(warm, 62, 42), hsl(warm, 88, 60)]),
    blur('soft', 60),
    blur('haze', 9),
    background('url(#dusk)'),
    ...times(50, () =>
      circle(
        [WIDTH * chance.next(), HEIGHT * 0.4 * chance.next()],
        chance.between(0.8, 2),
        'fill="#fff" opacity=".6"',
      ),
    ),
    circle(light, 260, `fill="${hsl(warm, 100, 66)}" opacity=".8" filter="url(#soft)"`),
    `<g filter="url(#haze)">${rays.join('')}</g>`,
    circle(light, 60, `fill="${hsl(warm + 14, 100, 88)}"`),
    ridge(chance, HEIGHT * 0.68, 170, `fill="${hsl(cold, 40, 14)}"`, 6),
    ridge(chance, HEIGHT * 0.8, 60, `fill="${hsl(cold, 50, 6)}"`, 5),
    rectangle([walker[0] - 9, walker[1] - 46], [18, 82], `fill="${hsl(cold, 50, 5)}"`, 9),
    circle([walker[0], walker[1] - 58], 11, `fill="${hsl(cold, 50, 5)}"`),
    rectangle([0, 0], [WIDTH, bar], 'fill="#000"'),
    rectangle([0, HEIGHT - bar], [WIDTH, bar], 'fill="#000"'),
  ];
};

/** Houses and plants with an outline. */
export const illustration: Scene = (chance) => {
  const hue = chance.between(0, 360);
  const outline = `stroke="${hsl(hue + 230, 40, 22)}" stroke-width="7" stroke-linejoin="round" stroke-linecap="round"`;
  const ground = HEIGHT * 0.78;
  const houses = times(5, (index) => {
    const [width, height] = [chance.between(150, 220), chance.between(170, 330)];
    const x = 110 + index * 275 + chance.between(-20, 20);
    const top = ground - height;
    const wall = hsl(hue + index * 62, 58, 68);
    const windows = times(chance.whole(2, 3), (row) =>
      [0.2, 0.6].map((share) =>
        rectangle(
          [x + width * share, top + 34 + row * 62],
          [width * 0.2, 36],
          `fill="#fff6d8" ${outline}`,
          4,
        ),
      ),
    ).flat();
    return [
      rectangle([x, top], [width, height], `fill="${wall}" ${outline}`, 6),
      polygon(
        [
          [x - 18, top],
          [x + width / 2, top - chance.between(60, 110)],
          [x + width + 18, top],
        ],
        `fill="${hsl(hue + index * 62 + 190, 52, 48)}" ${outline}`,
      ),
      ...windows.slice(0, Math.floor((height - 60) / 62) * 2),
    ];
  }).flat();
  const bushes = times(7, () => {
    const size = chance.between(40, 76);
    const place: Point = [WIDTH * chance.next(), ground + chance.between(10, 60)];
    return blob(
      around(chance, place, [size * 1.3, size], 0.14, 11),
      `fill="${hsl(chance.between(95, 150), 42, 46)}" ${outline}`,
    );
  });
  const clouds = times(3, (index) => {
    const place: Point = [
      WIDTH * (0.2 + index * 0.3) + chance.between(-60, 60),
      HEIGHT * chance.between(0.12, 0.28),
    ];
    return blob(around(chance, place, [120, 44], 0.22, 12), `fill="#fff" ${outline}`);
  });
  return [
    background(hsl(hue + 20, 70, 88)),
    circle([WIDTH * chance.between(0.15, 0.85), HEIGHT * 0.24], 84, `fill="${hsl(44, 94, 66)}" ${outline}`),
    ...clouds,
    ...houses,
    rectangle([-20, ground], [WIDTH + 40, HEIGHT], `fill="${hsl(86, 46, 62)}" ${outline}`),
    ...bushes,
  ];
};
