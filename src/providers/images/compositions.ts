/** Placeholders that show forms, without letters. */
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
  line,
  type Point,
  polygon,
  rectangle,
  type Scene,
  times,
  WIDTH,
} from './shapes.ts';

/** A few large forms on paper, with room around them. */
export const editorial: Scene = (chance) => {
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

/** Smooth bodies under a studio lamp. */
export const render3d: Scene = (chance) => {
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
export const watercolor: Scene = (chance) => {
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
export const corporateTech: Scene = (chance) => {
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
