import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventType } from '../../src/events/catalog.ts';
import type { EndpointId } from '../../src/ids.ts';
import { verifyWebhook } from '../../src/webhooks/verify.ts';
import { type Receiver, startReceiver } from '../../test/support/receiver.ts';
import type { ScriptService, ScriptWorkspace } from './service.ts';

export interface WitnessOptions {
  /** Longest time of a response, in milliseconds; each takes a random part of it. */
  readonly delayMs: number;
  /** Share of first attempts (0 to 1) that are refused with 503. */
  readonly refuse: number;
}

/** The sends of one delivery. */
export interface Sends {
  readonly articleId: string;
  /** SHA-256 of the body, in hex. */
  readonly body: string;
  /** When each arrived. */
  readonly at: number[];
  /** Whether the first was refused with 503 on purpose. */
  refused: boolean;
  /** Those among them that came over a connection that had carried another request. */
  onReused: number;
}

/** A receiver that remembers every send, checks its signature and now and then is slow or refuses. */
export interface Witness {
  readonly name: string;
  readonly endpointId: EndpointId;
  readonly receiver: Receiver;
  /** By delivery id. */
  readonly sends: Map<string, Sends>;
  /** Sends whose signature or headers were wrong. */
  readonly forged: string[];
}

/** Registers a new witness of the workspace, for article.created when no types of events are named. */
export async function startWitness(
  service: ScriptService,
  workspace: ScriptWorkspace,
  name: string,
  { delayMs, refuse }: WitnessOptions,
  events?: readonly EventType[],
): Promise<Witness> {
  const receiver = await startReceiver();
  const { id, secret } = await service.register(workspace, receiver.url, events);
  const witness: Witness = { name, endpointId: id, receiver, sends: new Map(), forged: [] };
  let newest = 0;
  receiver.answer = async ({ raw, headers, at, connection }) => {
    const isReused = connection <= newest;
    newest = Math.max(newest, connection);
    receiver.received.length = 0;
    try {
      const { deliveryId, data } = verifyWebhook(raw, headers, secret);
      const key = deliveryId ?? '';
      const body = createHash('sha256').update(raw).digest('hex');
      const seen = witness.sends.get(key) ?? {
        articleId: String(data.articleId),
        body,
        at: [],
        refused: false,
        onReused: 0,
      };
      if (seen.body !== body) witness.forged.push(`${key} came with two bodies`);
      seen.at.push(at);
      if (isReused) seen.onReused += 1;
      witness.sends.set(key, seen);
      if (seen.at.length === 1 && Math.random() < refuse) {
        seen.refused = true;
        return 503;
      }
    } catch (error) {
      witness.forged.push(String(error));
    }
    if (delayMs > 0) await sleep(Math.random() * delayMs);
    return 204;
  };
  return witness;
}
