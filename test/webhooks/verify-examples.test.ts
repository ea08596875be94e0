import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseNetworks } from '../../src/networks.ts';
import { createAddressGuard } from '../../src/outbound/resolver.ts';
import { generateSecret } from '../../src/webhooks/secrets/generate.ts';
import { createWebhookSender } from '../../src/webhooks/sending/sender.ts';
import { deliveryHeaders, signPayload, signStandard } from '../../src/webhooks/sending/signature.ts';

const guide = readFileSync(new URL('../../docs/receiving-webhooks.md', import.meta.url), 'utf8');
const IN_FILES = ['receiver.py', 'receiver.go', 'receiver.rb'];
const secret = generateSecret();
/** Every receiver has this one too, as during a rotation. */
const olderSecret = generateSecret();
const text = '{ "event":"article.created","data":{"title":"naïve – 日本"} }';
const body = Buffer.from(text);

let folder: string;
let running: RunningExample | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'receiver-'));
});

afterEach(async () => {
  await running?.stop();
  running = undefined;
  rmSync(folder, { recursive: true });
});

/** A receiver of examples/receivers, or the fenced block of the guide that follows its marker. */
function exampleOf(name: string): string {
  if (IN_FILES.includes(name)) {
    return readFileSync(new URL(`../../examples/receivers/${name}`, import.meta.url), 'utf8');
  }
  const block = new RegExp(
    `<!-- example: ${name.replace('.', '\\.')} -->\n\`\`\`\\w+\n([^]*?)\n\`\`\`\n`,
  ).exec(guide);
  if (block?.[1] === undefined) throw new Error(`the guide has no example ${name}`);
  return `${block[1]}\n`;
}

interface RunningExample {
  url: string;
  /** Ends the example and answers all it has printed: an answer over HTTP may overtake a line of output. */
  stop(): Promise<string>;
}

/** Runs an example as its readers do, and waits until it listens. */
async function start(name: string, command: string): Promise<RunningExample> {
  writeFileSync(join(folder, name), exampleOf(name));
  copyFileSync(new URL('../../src/webhooks/verify.ts', import.meta.url), join(folder, 'verify.ts'));
  const env = { ...process.env, WEBHOOK_SECRET: `${secret} ${olderSecret}`, PORT: '0', PYTHONUTF8: '1' };
  const child = spawn(command, [name], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = new Promise((resolve) => child.once('close', resolve));
  let output = '';
  const stop = async (): Promise<string> => {
    child.kill();
    await closed;
    return output;
  };
  const port = await new Promise<string>((resolve, reject) => {
    const read = (chunk: string): void => {
      output += chunk;
      const listening = /listening on (\d+)/.exec(output)?.[1];
      if (listening !== undefined) resolve(listening);
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}: ${output}`)));
  });
  running = { url: `http://127.0.0.1:${port}/webhooks`, stop };
  return running;
}

/** Posts to an example; an array gives one header line an entry. */
function post(
  url: string,
  signature: string | string[] | null,
  { deliveryId = 'd-0', bytes = body }: { deliveryId?: string; bytes?: Buffer } = {},
): Promise<number> {
  const signed = signature === null ? {} : { 'x-service-signature': signature };
  return send(url, { 'x-service-delivery': deliveryId, ...signed }, bytes);
}

function send(url: string, signed: OutgoingHttpHeaders, bytes: Buffer = body): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-length': bytes.length, ...signed };
    const sent = httpRequest(url, { method: 'POST', headers, agent: false }, (response: IncomingMessage) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject).end(bytes);
  });
}

async function checkReceiver({ url, stop }: RunningExample): Promise<void> {
  const guard = createAddressGuard({ allowedNetworks: parseNetworks('127.0.0.1/32') });
  const sender = createWebhookSender({ guard });
  const deliver = async (deliveryId: string, event: string, bytes: Buffer) => {
    const input = {
      secrets: { service: secret, standard: [secret] },
      eventId: `event of ${deliveryId}`,
      deliveryId,
      eventType: event,
      body: bytes,
    };
    const outcome = await sender.send({
      url,
      body: bytes,
      beforeWrite: async () => ({ proceed: true, headers: deliveryHeaders({ ...input, now: new Date() }) }),
    });
    return outcome.kind === 'responded' ? outcome.status : outcome;
  };
  expect(await deliver('d-1', 'article.created', body)).toBe(204);
  expect(await deliver('d-1', 'article.created', body)).toBe(204);
  expect(await deliver('d-2', 'unheard.of', Buffer.from('{"event":"unheard.of","data":{}}'))).toBe(204);
  await sender.close();

  const t = Math.floor(Date.now() / 1_000);
  const good = signPayload(secret, t, body);
  const v1 = good.slice(good.indexOf('v1='));
  const bad = {
    'no signature': null,
    'an empty one': '',
    'another secret': signPayload('whsec_other', t, body),
    'another time': `t=${t - 1},${v1}`,
    'too old': signPayload(secret, t - 302, body),
    'from the future': signPayload(secret, t + 310, body),
    'without t': v1,
    'without v1': `t=${t}`,
    't twice': `t=${t},${good}`,
    'v1 twice': `${good},${v1}`,
    'two lines': [good, good],
    'upper case': `t=${t},v1=${v1.slice(3).toUpperCase()}`,
    'cut short': good.slice(0, -2),
    'no number': `t=now,${v1}`,
  };
  for (const [name, signature] of Object.entries(bad)) {
    expect({ name, status: await post(url, signature) }).toEqual({ name, status: 400 });
  }
  expect(await post(url, good, { bytes: Buffer.from(text.replace('naïve', 'naive')) })).toBe(400);
  expect(await post(url, good, { bytes: Buffer.from(JSON.stringify(JSON.parse(text))) })).toBe(400);
  expect(await post(url, signPayload(secret, t - 290, body), { deliveryId: 'd-3' })).toBe(204);
  // A field of a later version.
  expect(await post(url, `${good},v2=${v1.slice(3)}`, { deliveryId: 'd-3' })).toBe(204);

  await checkStandardHeaders(url, t);
  const received = (await stop()).match(/^received .*$/gm);
  const created = 'received article.created {"title":"naïve – 日本"}';
  expect(received).toEqual([created, 'received unheard.of {}', created]);
}

/** Of headers of Standard Webhooks alone. All that is taken has ids that were seen before. */
async function checkStandardHeaders(url: string, t: number): Promise<void> {
  const sign = (key = secret, { id = 'event of d-1', at = t } = {}) => ({
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': signStandard(key, id, at, body),
  });
  const good = sign();
  const other = sign(generateSecret())['webhook-signature'];
  const taken = {
    one: good,
    'the older secret': sign(olderSecret),
    'the second of two': { ...good, 'webhook-signature': `${other} ${good['webhook-signature']}` },
    'beside another version': { ...good, 'webhook-signature': `v1a,AAAA ${good['webhook-signature']}` },
    'nearly too old': sign(secret, { at: t - 290 }),
  };
  const refused: Record<string, OutgoingHttpHeaders> = {
    'another secret': { ...good, 'webhook-signature': other },
    'an empty one': { ...good, 'webhook-signature': '' },
    'another id': { ...good, 'webhook-id': 'event of d-2' },
    'another time': { ...good, 'webhook-timestamp': String(t - 1) },
    'too old': sign(secret, { at: t - 302 }),
    'from the future': sign(secret, { at: t + 310 }),
    'no id': { ...good, 'webhook-id': [] },
    'no time': { ...good, 'webhook-timestamp': [] },
    'cut short': { ...good, 'webhook-signature': good['webhook-signature'].slice(0, -3) },
    'without its version': { ...good, 'webhook-signature': good['webhook-signature'].slice(3) },
    'a bad one beside a good one of the other kind': {
      ...good,
      'webhook-signature': other,
      'x-service-signature': signPayload(generateSecret(), t, body),
    },
  };
  for (const [name, headers] of Object.entries(taken)) {
    expect({ name, status: await send(url, headers) }).toEqual({ name, status: 204 });
  }
  for (const [name, headers] of Object.entries(refused)) {
    expect({ name, status: await send(url, headers) }).toEqual({ name, status: 400 });
  }
  expect(await send(url, good, Buffer.from(text.replace('naïve', 'naive')))).toBe(400);
  expect(await post(url, signPayload(olderSecret, t, body), { deliveryId: 'd-3' })).toBe(204);
}

/** Whether a program runs here. */
function isInstalled(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** `npm run test:receivers` runs the others as well. */
const ALL = process.env.RECEIVERS === 'all';

describe('the receivers of the guide', () => {
  it('in TypeScript accept genuine deliveries once and refuse all others', async () => {
    await checkReceiver(await start('receiver.ts', process.execPath));
  });

  it('in Python do the same, where python3 is installed', async () => {
    if (isInstalled('python3', '--version')) await checkReceiver(await start('receiver.py', 'python3'));
    else console.warn('python3 is not installed: the Python receiver of the guide was not run');
    expect(exampleOf('receiver.py')).toContain('hmac.compare_digest');
  });

  it('in Go do the same, in npm run test:receivers, where Go is installed', async () => {
    const isHere = ALL && isInstalled('go', 'version');
    // Built first: `go run` would leave the receiver behind when it is ended.
    if (isHere) {
      writeFileSync(join(folder, 'receiver.go'), exampleOf('receiver.go'));
      execFileSync('go', ['build', '-o', 'receiver', 'receiver.go'], { cwd: folder });
      await checkReceiver(await start('receiver.go', join(folder, 'receiver')));
    } else if (ALL) console.warn('go is not installed: the Go receiver of the guide was not run');
    expect(exampleOf('receiver.go')).toContain('hmac.Equal');
  });

  it('in Ruby do the same, in npm run test:receivers, where Ruby and webrick are installed', async () => {
    const isHere = ALL && isInstalled('ruby', '-rwebrick', '-e', '');
    if (isHere) await checkReceiver(await start('receiver.rb', 'ruby'));
    else if (ALL)
      console.warn('ruby or webrick is not installed: the Ruby receiver of the guide was not run');
    expect(exampleOf('receiver.rb')).toContain('OpenSSL.secure_compare');
  });

  it('have sample signatures that are right', () => {
    const sample = signPayload('whsec_example', 1_767_225_600, Buffer.from('{"event":"ping","data":{}}'));
    expect(exampleOf('signature').trim()).toBe(sample);
    const [key, id] = [
      'whsec_ZXhhbXBsZS1vZi1hLXNlY3JldC1vZi0zMi1ieXRlcyE=',
      '019a9d3c-1c50-7a3e-9b1f-4d2e6c8a0b15',
    ];
    expect(guide).toContain(key);
    expect(guide).toContain(`the id \`${id}\``);
    const standard = signStandard(key, id, 1_767_225_600, Buffer.from('{"event":"ping","data":{}}'));
    expect(exampleOf('standard-signature').trim()).toBe(standard);
  });
});
