/**
 * Counts states in the background. Whoever sees that a version's states are unknown has its project caught up with, so no list of
 * work is stored: what a killed server leaves, the next request for the list begins again.
 */
import type { Database } from '../../db/database.ts';
import type { Position } from '../../http/paging.ts';
import type { ArticleId, ProjectId, WorkspaceId } from '../../ids.ts';
import { pause } from '../../pause.ts';
import { inTheBackground } from '../../threads/share.ts';
import { knownStates } from '../states.ts';
import { countedTogether, countInTurn, LOOKED_AT, lookAt } from './count.ts';

/** Projects in work, of one workspace and workspaces in all. A further one is taken when its list is requested again. */
const MAX_PROJECTS = 20;
const MAX_WORKSPACES = 1_000;
/** Rest after a piece of work, as a share of its time. */
const REST = 1 / 3;

export interface CatchUp {
  /** Has all versions of the project counted whose states are unknown. Returns at once. */
  readonly add: (workspaceId: WorkspaceId, projectId: ProjectId) => void;
  /** Ends after the present piece of work. */
  readonly close: () => Promise<void>;
}

/** A walk over the versions of a project. */
interface Walk {
  readonly projectId: ProjectId;
  place: Position<ArticleId> | null;
  /** True when it was requested since it began: a version that it has passed may have changed. */
  isAgain: boolean;
}

/**
 * Catches up with one project at a time in this process: a piece of each workspace in turn (contract.md T65).
 * @param onError called for what could not be counted; its states stay unknown until the list is requested again
 */
export function createCatchUp({
  databaseOf,
  onError,
}: {
  readonly databaseOf: (workspaceId: WorkspaceId) => Database;
  readonly onError: (error: unknown, workspaceId: WorkspaceId, id: ProjectId | ArticleId) => void;
}): CatchUp {
  /** Workspaces in the order in which they are served, each with its projects in that order. */
  const line = new Map<WorkspaceId, Walk[]>();
  const closing = new AbortController();
  const { signal } = closing;
  let running: Promise<void> | undefined;

  /** Counts the next piece of a walk. @returns where the next one begins; null at the end */
  const count = async (workspaceId: WorkspaceId, walk: Walk): Promise<Walk['place']> => {
    const db = databaseOf(workspaceId);
    const versions = await lookAt(
      db,
      { workspaceId, projectId: walk.projectId },
      walk.place,
      LOOKED_AT,
    ).execute();
    const unknown = versions.filter((version) => knownStates(version) === undefined);
    const together = countedTogether(unknown);
    if (together.length > 0) {
      await countInTurn(db, workspaceId, together, (id, error) => onError(error, workspaceId, id));
    }
    const isPassed = together.length === unknown.length;
    if (isPassed && versions.length < LOOKED_AT) return null;
    const last = isPassed ? versions.at(-1) : together.at(-1);
    return last === undefined ? null : { at: last.created_at, id: last.id };
  };

  const work = async (workspaceId: WorkspaceId, walks: Walk[]): Promise<void> => {
    const walk = walks[0];
    if (walk === undefined) return;
    if (walk.place === null) walk.isAgain = false;
    let isOver = true;
    try {
      walk.place = await inTheBackground(workspaceId, () => count(workspaceId, walk));
      isOver = walk.place === null && !walk.isAgain;
    } catch (error) {
      onError(error, workspaceId, walk.projectId);
    }
    walks.shift();
    if (!isOver) walks.push(walk);
  };

  const run = async (): Promise<void> => {
    for (const [workspaceId, walks] of line) {
      const began = performance.now();
      await work(workspaceId, walks);
      line.delete(workspaceId);
      // Behind all others; the loop comes to it again.
      if (walks.length > 0) line.set(workspaceId, walks);
      if (signal.aborted) break;
      await pause((performance.now() - began) * REST, signal);
    }
    running = undefined;
  };

  return {
    add(workspaceId, projectId) {
      if (signal.aborted) return;
      const walks = line.get(workspaceId) ?? [];
      const walk = walks.find((one) => one.projectId === projectId);
      if (walk !== undefined) walk.isAgain = true;
      else if (walks.length < MAX_PROJECTS) walks.push({ projectId, place: null, isAgain: false });
      if (line.has(workspaceId) || line.size === MAX_WORKSPACES) return;
      line.set(workspaceId, walks);
      running ??= run();
    },
    async close() {
      closing.abort();
      await running;
    },
  };
}
