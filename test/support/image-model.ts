import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { startEngineServer } from './engine-server.ts';

/** An image model: a picture of its own for each prompt. Counts its calls by prompt. */
export async function startImageModel(delayMs: number) {
  const asked = new Map<string, number>();
  const server = await startEngineServer(async ({ body }) => {
    const { prompt } = JSON.parse(body) as { prompt: string };
    asked.set(prompt, (asked.get(prompt) ?? 0) + 1);
    await sleep(delayMs);
    const [r, g, b] = Buffer.from(hash('sha256', prompt), 'hex');
    const background = { r: r ?? 0, g: g ?? 0, b: b ?? 0 };
    const picture = sharp({ create: { width: 1_536, height: 864, channels: 3, background } }).png();
    return { body: { created: 1, data: [{ b64_json: (await picture.toBuffer()).toString('base64') }] } };
  });
  return {
    asked,
    count: () => [...asked.values()].reduce((sum, times) => sum + times, 0),
    env: {
      IMAGE_PROVIDER: 'openai-compatible',
      IMAGE_BASE_URL: `${server.url}/v1`,
      IMAGE_MODEL_STANDARD: 'stand-in',
    },
    close: () => server.close(),
  };
}
