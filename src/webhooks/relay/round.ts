import type { Database } from '../../db/database.ts';
import type { EndpointId } from '../../ids.ts';
import type { Paces } from '../pace/paces.ts';
import type { BurstStarts, Unclaimed } from './burst-starts.ts';
import type { Bursts, OpenBurst } from './bursts.ts';
import { CLAIM_LIMIT, chooseCandidates } from './candidates.ts';
import type { Capacity } from './capacity.ts';
import { type Candidate, type Claim, claimDue, FEW_DUE, type SeenEndpoint } from './claim.ts';
import type { HeldEndpoints } from './held-endpoints.ts';
import type { KnownEndpoints } from './known-endpoints.ts';
import type { Runs } from './runs.ts';
import type { Look, Walk } from './scans.ts';
import type { Tokens } from './tokens.ts';

export interface RoundDependencies {
  /** For claims: see {@link createDeliveryDatabase}. */
  readonly db: Database;
  readonly runs: Runs;
  readonly bursts: Bursts;
  readonly capacity: Capacity;
  readonly known: KnownEndpoints;
  readonly held: HeldEndpoints;
  readonly paces: Pick<Paces, 'isHeld'>;
  readonly tokens: Tokens;
  readonly look: Look;
  readonly walk: Walk;
  readonly starts: BurstStarts;
  /** Called for an endpoint with due deliveries that is disabled. */
  readonly onDisabled: (id: EndpointId) => void;
}

/** What a round asks for. */
interface Plan {
  readonly now: number;
  readonly burst: OpenBurst | undefined;
  readonly runs: number;
  readonly isLook: boolean;
  readonly walkFrom: EndpointId | null;
  readonly candidates: readonly Candidate[];
}

/**
 * One turn of the relay: plan, claim, hand out, learn, and start a burst where one is needed.
 * @returns whether the next one is worth it at once
 */
export function createRound(dependencies: RoundDependencies): (now: number) => Promise<boolean> {
  const { db, runs, bursts, capacity, known, held, paces, tokens, look, walk, starts } = dependencies;
  const hasRoom = ({ id, workspaceId }: Pick<SeenEndpoint, 'id' | 'workspaceId'>) =>
    capacity.room(id, workspaceId) > 0;

  function plan(now: number): Plan {
    const burst = bursts.accepting();
    // What comes while a burst opens would wait longer for a run of its own, and the burst for that run.
    const mayStart = burst === undefined && !starts.isOpening && runs.areStarting;
    const left = mayStart ? tokens.available(now, runs.waiting) : 0;
    // Nothing could be taken: what is new is looked for when there is room.
    const isFull = burst !== undefined && capacity.left === 0;
    const isLook = !isFull && look.dueAt() <= now;
    const candidates = chooseCandidates(
      { known, capacity, isHeld: paces.isHeld },
      { now, isLook, isBurstOpen: burst !== undefined, runs: left },
    );
    if (isLook) look.began();
    const walkFrom = !isFull && walk.dueAt() <= now ? walk.began() : null;
    return { now, burst, runs: left, isLook, walkFrom, candidates };
  }

  async function claim({ now, burst, runs: left, isLook, walkFrom, candidates }: Plan): Promise<Claim> {
    const claiming = claimDue(db, {
      ...{ candidates, isLook, walkFrom, tokens: left, limit: CLAIM_LIMIT },
      burstId: burst?.id ?? null,
      keyIds: held.keyIds,
      held: held.excluded(),
    });
    burst?.awaits(claiming);
    const claimed = await claiming;
    const endedAt = performance.now();
    if (isLook) look.ended(endedAt, endedAt - now);
    if (walkFrom !== null) walk.ended(endedAt, endedAt - now, claimed.walkedTo);
    // A look that is not full has seen all: a walk would only pass delivered rows not vacuumed yet.
    if (claimed.isLookFull) walk.want();
    return claimed;
  }

  /** @returns how many were claimed of each endpoint */
  function handOut({ deliveries }: Claim, { burst, now }: Plan): Map<EndpointId, number> {
    const claimed = new Map<EndpointId, number>();
    for (const delivery of deliveries) {
      claimed.set(delivery.endpointId, (claimed.get(delivery.endpointId) ?? 0) + 1);
      if (delivery.inRun) {
        tokens.spend();
        runs.start(delivery);
      } else burst?.send(delivery, now);
    }
    return claimed;
  }

  /** Notes what the claim saw of an endpoint. @returns what it left */
  function learn(endpoint: SeenEndpoint, claimed: number, now: number): Unclaimed {
    const { id, active, due, unreadable, paceIn } = endpoint;
    const isWaiting = paceIn !== null && (due === 0 || claimed > 0);
    const isMore = active && unreadable === null && (due > FEW_DUE || due > claimed);
    if (active && due > 0 && unreadable !== null) held.passed(id, unreadable);
    if (!active && due > 0) dependencies.onDisabled(id);
    known.saw(endpoint, isMore, now, { claimed, pacedUntil: isWaiting ? now + paceIn * 1_000 : now });
    const some = isMore && !isWaiting && hasRoom(endpoint);
    return { some, many: some && (due > FEW_DUE || runs.waiting > 0) };
  }

  function learnAll({ endpoints }: Claim, claimed: ReadonlyMap<EndpointId, number>, plan: Plan): Unclaimed {
    const gone = new Set(plan.candidates.flatMap((one) => (one.isOnlyIfNew ? [] : one.endpointId)));
    const left = endpoints.map((endpoint) => {
      gone.delete(endpoint.id);
      return learn(endpoint, claimed.get(endpoint.id) ?? 0, plan.now);
    });
    for (const id of gone) known.forget(id);
    return { some: left.some(({ some }) => some), many: left.some(({ many }) => many) };
  }

  return async (now) => {
    const planned = plan(now);
    const { burst, isLook, walkFrom, candidates } = planned;
    if (!isLook && walkFrom === null && candidates.length === 0) {
      const some = burst === undefined && known.due(now).some(hasRoom);
      starts.consider({ some, many: some && runs.waiting > 0 }, { open: burst, isUsed: false }, now);
      return false;
    }
    const claimed = await claim(planned);
    const left = learnAll(claimed, handOut(claimed, planned), planned);
    const isUsed = claimed.deliveries.some(({ inRun }) => !inRun);
    starts.consider(burst === undefined ? left : { some: false, many: false }, { open: burst, isUsed }, now);
    return left.some && (isLook || walkFrom !== null || claimed.deliveries.length > 0);
  };
}
