import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { IMAGE_STYLES, type ImageStyle } from '../../src/db/tables.ts';
import { IMAGE_SIZE, type ImageRequest } from '../../src/providers/image-model.ts';
import { createImageModel, noteImageProvider } from '../../src/providers/images/index.ts';
import { createPseudoImageModel, drawScene } from '../../src/providers/images/pseudo.ts';

const model = createPseudoImageModel();
const requestWith = (changes: Partial<ImageRequest>): ImageRequest => ({
  prompt: 'A garden in spring',
  style: 'editorial',
  role: 'hero',
  quality: 'standard',
  seed: 1,
  signal: new AbortController().signal,
  ...changes,
});
const draw = async (changes: Partial<ImageRequest>): Promise<Buffer> =>
  Buffer.from(await model.draw(requestWith(changes)));
const svgOf = (changes: Partial<ImageRequest>): Buffer => Buffer.from(drawScene(requestWith(changes)));

const OTHERS = [{ seed: 2 }, { prompt: 'A roof of slate' }];

const thumbnail = (picture: Buffer): Promise<Buffer> =>
  sharp(picture).resize(96, 54).removeAlpha().raw().toBuffer();

/** The mean difference of two thumbnails, in steps of 256. */
function difference(one: Buffer, other: Buffer): number {
  let sum = 0;
  for (const [index, value] of one.entries()) sum += Math.abs(value - (other[index] ?? 0));
  return sum / one.length;
}

describe('the pseudo image model', () => {
  // contract.md G96
  it.each(IMAGE_STYLES)(
    'draws %s of the promised size, the same for the same seed and another for another',
    async (style) => {
      const drawn = await draw({ style });
      const { data, info } = await sharp(drawn).raw().toBuffer({ resolveWithObject: true });
      expect(info).toMatchObject(IMAGE_SIZE);
      expect(new Set(data).size).toBeGreaterThan(20);
      expect((await draw({ style })).equals(drawn)).toBe(true);
      const small = await thumbnail(svgOf({ style }));
      for (const changes of OTHERS) {
        expect(difference(small, await thumbnail(svgOf({ style, ...changes })))).toBeGreaterThan(0.5);
      }
    },
  );

  // contract.md G96
  it('draws each style in its own way, without a font, and marks all as placeholders', async () => {
    const drawn = new Map<ImageStyle, Buffer>();
    for (const style of IMAGE_STYLES) {
      const svg = svgOf({ style });
      expect(svg.toString()).not.toMatch(/<text|font|href|NaN|undefined/);
      expect(svg.length).toBeLessThan(200_000);
      const picture = await sharp(svg).png({ compressionLevel: 0 }).toBuffer();
      const small = await thumbnail(picture);
      for (const other of drawn.values()) expect(difference(small, other)).toBeGreaterThan(10);
      drawn.set(style, small);
      // The label is dark with white strokes, whatever is below it.
      const label = await sharp(picture)
        .extract({ left: 1_200, top: 770, width: 300, height: 60 })
        .greyscale()
        .raw()
        .toBuffer();
      expect(Math.min(...label)).toBeLessThan(100);
      expect(label.filter((value) => value > 220).length).toBeGreaterThan(400);
    }
  });

  it('draws by the prompt and the seed that it is given', async () => {
    const drawn = await thumbnail(await draw({}));
    for (const changes of OTHERS) {
      expect(difference(drawn, await thumbnail(await draw(changes)))).toBeGreaterThan(0.5);
    }
  });

  it('has nothing of a hostile prompt in the picture', async () => {
    const svg = svgOf({ prompt: '</svg><script>alert(1)</script>&x;' });
    expect(svg.toString()).not.toMatch(/script|alert|&x/);
    const aborted = draw({ signal: AbortSignal.abort(new Error('cancelled')) });
    await expect(aborted).rejects.toThrow('cancelled');
  });
});

describe('the configured image model', () => {
  const writer = {
    GENERATION_PROVIDER: 'openai-compatible',
    AI_BASE_URL: 'http://127.0.0.1:1/v1',
    AI_MODEL: 'm',
  };
  const api = {
    IMAGE_PROVIDER: 'openai-compatible',
    IMAGE_BASE_URL: 'http://127.0.0.1:1/v1',
    IMAGE_MODEL_STANDARD: 'quick',
  };
  const start = async (env: Record<string, string>) => {
    const lines: unknown[] = [];
    const write = (...line: unknown[]) => lines.push(line);
    const config = loadConfig(env);
    noteImageProvider(config, { info: write, warn: write });
    return { model: await createImageModel(config), lines };
  };

  // contract.md G95
  it('is pseudo beside the pseudo writer alone; a start without one beside a real writer says so', async () => {
    expect(await start({})).toMatchObject({ model: { name: 'pseudo' }, lines: [] });
    const none = await start(writer);
    expect(none.model).toBeNull();
    expect(none.lines).toEqual([[expect.stringContaining('none is made and none is charged')]]);
    expect(await start({ ...writer, IMAGE_PROVIDER: 'pseudo' })).toMatchObject({
      model: { name: 'pseudo' },
      lines: [],
    });
    expect(await start({ IMAGE_PROVIDER: 'none' })).toEqual({ model: null, lines: [] });
  });

  // contract.md G95
  it('draws each quality by its model, and a start with one for both says so', async () => {
    const one = await start(api);
    expect([one.model?.modelOf('standard'), one.model?.modelOf('hd'), one.lines.length]).toEqual([
      'quick',
      'quick',
      1,
    ]);
    const two = await start({ ...api, IMAGE_MODEL_HD: 'fine' });
    expect([two.model?.modelOf('standard'), two.model?.modelOf('hd'), two.lines.length]).toEqual([
      'quick',
      'fine',
      0,
    ]);
  });

  it('that lacks what it needs stops the start, naming it and no value', async () => {
    for (const name of ['IMAGE_BASE_URL', 'IMAGE_MODEL_STANDARD']) {
      expect(() => loadConfig({ ...api, [name]: '' })).toThrow(
        `${name}: needed by IMAGE_PROVIDER=openai-compatible`,
      );
    }
    expect(() => loadConfig({ IMAGE_PROVIDER: 'crayons' })).toThrow('IMAGE_PROVIDER');
    expect(() => loadConfig({ IMAGE_TIMEOUT_SECONDS: '301' })).toThrow('IMAGE_TIMEOUT_SECONDS');
    const bad = () => loadConfig({ ...api, IMAGE_BASE_URL: 'secret' });
    expect(bad).toThrow(/IMAGE_BASE_URL: expected http/);
    expect(bad).not.toThrow(/secret/);
    const unchecked = { ...loadConfig({}), IMAGE_PROVIDER: 'openai-compatible' } as const;
    await expect(createImageModel(unchecked)).rejects.toThrow('IMAGE_BASE_URL');
  });
});
