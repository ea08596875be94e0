/** The placeholders of each style: a scene drawn by chance, without letters. */
import type { ImageStyle } from '../../db/tables.ts';
import {
  around,
  background,
  blob,
  blur,
  type Chance,
  circle,
  ellipse,
  gradient,
  HEIGHT,
  hsl,
  line,
  type Point,
  polygon,
  rectangle,
  ridge,
  times,
  WIDTH,
} from './shapes.ts';

/** Definitions first, then what is drawn, from back to front. */
type Scene = (chance: Chance) => readonly string[];

/** Hills in the haze behind a lake, with the sun in both. */
const photorealistic: Scene = (chance) => {
  const hue = chance.between(195, 235);
  const warm = chance.between(18, 42);
  const shore = HEIGHT * chance.between(0.6, 0.68);
  const sun: Point = [WIDTH * chance.between(0.2, 0.8), shore * chance.between(0.42, 0.6)];
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

/** A few large forms on paper, with room around them. */
const editorial: Scene = (chance) => {
  const hue = chance.between(0, 360);
  const ink = hsl(hue + 215, 36, 17);
  const loud = hsl(hue, 70, 55);
  const calm = hsl(hue + 35, 44, 74);
  const left = chance.next() < 0.5;
  const side = (share: number): number => WIDTH * (left ? share : 1 - share);
  const centre: Point = [side(0.34), HEIGHT * 0.5];
  const pages = times(chance.whole(4, 6), (index) => {
    const width = 330 - index * 22;
    return rectangle(
      [side(0.72) - width / 2, HEIGHT * 0.68 - index * 46],
      [width + chance.between(-30, 30), 34],
      `fill="${index % 3 === 1 ? loud : index % 3 === 2 ? calm : ink}"`,
      4,
    );
  });
  return [
    background('#f4efe6'),
    rectangle([left ? 0 : WIDTH * 0.66, 0], [WIDTH * 0.34, HEIGHT], `fill="${calm}"`),
    circle(centre, chance.between(210, 270), `fill="${loud}"`),
    polygon(
      [
        centre,
        [centre[0] + chance.between(160, 300), HEIGHT],
        [centre[0] - chance.between(160, 300), HEIGHT],
      ],
      `fill="${ink}"`,
    ),
    circle([centre[0], centre[1] - 20], 54, 'fill="#f4efe6"'),
    line(
      [
        [side(0.56), HEIGHT * 0.75],
        [side(0.9), HEIGHT * 0.75],
      ],
      `stroke="${ink}" stroke-width="5"`,
    ),
    ...pages,
  ];
};

/** Flat land, one sun, one tree. */
const minimalistVector: Scene = (chance) => {
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

/** Smooth bodies under a studio lamp. */
const render3d: Scene = (chance) => {
  const hue = chance.between(0, 360);
  const floor = HEIGHT * 0.62;
  const bodies = times(5, (index) => {
    const own = hue + index * 34;
    const radius = chance.between(78, 168);
    const centre: Point = [
      WIDTH * (0.14 + 0.18 * index) + chance.between(-30, 30),
      floor + chance.between(40, 150) - radius * 0.6,
    ];
    return { own, radius, centre, isBox: index % 2 === 1, id: `body${index}` };
  }).toSorted((one, other) => one.centre[1] + one.radius - (other.centre[1] + other.radius));
  const drawn = bodies.flatMap(({ own, radius, centre: [x, y], isBox, id }) => {
    const shadow = ellipse(
      [x + radius * 0.3, y + radius * 0.97],
      [radius * 1.15, radius * 0.22],
      'fill="#101428" opacity=".34" filter="url(#soft)"',
    );
    const fill = `fill="url(#${id})"`;
    const box = [
      rectangle([x - radius * 0.82, y - radius * 0.7], [radius * 1.64, radius * 1.64], fill, radius * 0.3),
      rectangle(
        [x - radius * 0.62, y - radius * 0.56],
        [radius * 1.24, radius * 0.2],
        `fill="${hsl(own, 90, 92)}" opacity=".5" filter="url(#haze)"`,
        20,
      ),
    ];
    const ball = [
      circle([x, y], radius, fill),
      ellipse(
        [x - radius * 0.34, y - radius * 0.46],
        [radius * 0.24, radius * 0.15],
        'fill="#fff" opacity=".7" filter="url(#haze)"',
      ),
    ];
    return [shadow, ...(isBox ? box : ball)];
  });
  return [
    gradient('wall', [hsl(hue + 190, 36, 88), hsl(hue + 190, 34, 74)]),
    gradient('floor', [hsl(hue + 190, 30, 80), hsl(hue + 190, 32, 92)]),
    ...bodies.map(({ own, id }) =>
      gradient(id, [hsl(own, 88, 84), hsl(own, 76, 60), hsl(own, 70, 34), hsl(own, 60, 42)], 'ball'),
    ),
    blur('soft', 16),
    blur('haze', 7),
    background('url(#wall)'),
    rectangle([0, floor], [WIDTH, HEIGHT - floor], 'fill="url(#floor)"'),
    ...drawn,
  ];
};

/** Washes that lie over one another on paper. */
const watercolor: Scene = (chance) => {
  const hue = chance.between(0, 360);
  const washes = times(7, (index) => {
    const centre: Point = [WIDTH * chance.between(0.15, 0.85), HEIGHT * chance.between(0.2, 0.75)];
    const radius: Point = [chance.between(150, 330), chance.between(110, 230)];
    const colour = hsl(hue + chance.pick(0, 24, 48, 180, 205), 62, chance.between(48, 66));
    const wash = times(16, () =>
      blob(around(chance, centre, radius, 0.26, 16), `fill="${colour}" opacity=".05"`),
    );
    const edge = blob(
      around(chance, centre, radius, 0.2, 18),
      `fill="none" stroke="${colour}" stroke-width="3" opacity=".22"`,
    );
    return index % 2 === 0 ? [...wash, edge] : wash;
  }).flat();
  const petals = times(3, () => {
    const middle: Point = [WIDTH * chance.between(0.25, 0.75), HEIGHT * chance.between(0.3, 0.6)];
    const size = chance.between(42, 74);
    const colour = hsl(hue + chance.pick(320, 340, 15), 70, 52);
    return times(6, (index) => {
      const angle = (index * Math.PI) / 3 + chance.next() * 0.3;
      const centre: Point = [middle[0] + size * Math.cos(angle), middle[1] + size * Math.sin(angle)];
      return times(5, () =>
        blob(around(chance, centre, [size * 0.7, size * 0.7], 0.2, 10), `fill="${colour}" opacity=".16"`),
      );
    }).flat();
  }).flat();
  const drops = times(60, () =>
    circle(
      [WIDTH * chance.next(), HEIGHT * chance.next()],
      chance.between(1, 6),
      `fill="${hsl(hue, 50, 50)}" opacity=".18"`,
    ),
  );
  return [background('#fbf8f1'), ...washes, ...petals, ...drops];
};

/** A network over an orderly grid. */
const corporateTech: Scene = (chance) => {
  const hue = chance.between(198, 232);
  const grid = [
    ...times(17, (index) =>
      line(
        [
          [index * 96, 0],
          [index * 96, HEIGHT],
        ],
        'stroke="#fff" stroke-opacity=".07" stroke-width="2"',
      ),
    ),
    ...times(10, (index) =>
      line(
        [
          [0, index * 96],
          [WIDTH, index * 96],
        ],
        'stroke="#fff" stroke-opacity=".07" stroke-width="2"',
      ),
    ),
  ];
  const nodes = times(
    16,
    (index): Point => [
      96 * (1.5 + 3.2 * (index % 5)) + chance.between(-60, 60),
      96 * (1.3 + 2.1 * Math.floor(index / 5)) + chance.between(-50, 50),
    ],
  );
  const links = nodes.flatMap((node, index) =>
    [1, 5].flatMap((step) => {
      const other = nodes[index + step];
      if (other === undefined || (step === 1 && index % 5 === 4)) return [];
      return [
        line(
          [node, [other[0], node[1]], other],
          `stroke="${hsl(hue - 20, 90, 74)}" stroke-opacity=".55" stroke-width="3"`,
        ),
      ];
    }),
  );
  const bars = times(7, (index) => {
    const height = 60 + index * 26 + chance.between(0, 50);
    return rectangle(
      [WIDTH * 0.62 + index * 66, HEIGHT * 0.94 - height],
      [42, height],
      `fill="${hsl(hue - 30, 90, 72)}" opacity="${0.25 + index * 0.09}"`,
      8,
    );
  });
  return [
    gradient('deep', [hsl(hue, 80, 20), hsl(hue, 76, 40), hsl(hue - 24, 78, 54)], 'slanted'),
    blur('glow', 14),
    background('url(#deep)'),
    ...grid,
    ...bars,
    ...links,
    ...nodes.flatMap((node, index) => [
      circle(
        node,
        index % 4 === 0 ? 40 : 22,
        `fill="${hsl(hue - 24, 100, 80)}" opacity=".35" filter="url(#glow)"`,
      ),
      circle(node, index % 4 === 0 ? 24 : 11, 'fill="#fff" opacity=".95"'),
      circle(node, index % 4 === 0 ? 12 : 5, `fill="${hsl(hue, 80, 40)}"`),
    ]),
  ];
};

/** A low light behind dark land, between black bars. */
const cinematic: Scene = (chance) => {
  const cold = chance.between(185, 215);
  const warm = chance.between(14, 34);
  const light: Point = [WIDTH * chance.between(0.3, 0.7), HEIGHT * 0.6];
  const rays = times(7, (index) => {
    const angle = Math.PI * (1.12 + index * 0.11 + chance.next() * 0.05);
    const end = (wide: number): Point => [
      light[0] + 1_500 * Math.cos(angle + wide),
      light[1] + 1_500 * Math.sin(angle + wide),
    ];
    return polygon(
      [light, end(-0.025), end(0.025)],
      `fill="${hsl(warm, 90, 74)}" opacity=".1" filter="url(#haze)"`,
    );
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
    ...rays,
    circle(light, 60, `fill="${hsl(warm + 14, 100, 88)}"`),
    ridge(chance, HEIGHT * 0.68, 170, `fill="${hsl(cold, 40, 14)}" opacity=".9"`, 6),
    ridge(chance, HEIGHT * 0.8, 60, `fill="${hsl(cold, 50, 6)}"`, 5),
    rectangle([walker[0] - 9, walker[1] - 46], [18, 82], `fill="${hsl(cold, 50, 5)}"`, 9),
    circle([walker[0], walker[1] - 58], 11, `fill="${hsl(cold, 50, 5)}"`),
    rectangle([0, 0], [WIDTH, bar], 'fill="#000"'),
    rectangle([0, HEIGHT - bar], [WIDTH, bar], 'fill="#000"'),
  ];
};

/** Houses and plants with an outline. */
const illustration: Scene = (chance) => {
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

export const SCENES: Readonly<Record<ImageStyle, Scene>> = {
  photorealistic,
  editorial,
  'minimalist-vector': minimalistVector,
  '3d-render': render3d,
  watercolor,
  'corporate-tech': corporateTech,
  cinematic,
  illustration,
};
