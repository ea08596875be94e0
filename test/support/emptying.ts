import type { Database } from '../../src/db/database.ts';
import { emptyDeletedProjects } from '../../src/projects/empty.ts';
import { emptyDeletedWorkspaces } from '../../src/workspaces/empty.ts';

/** A round of `reconcile` for deleted projects, and for deleted workspaces as if their grace were over. */
export async function emptyDeleted(db: Database, graceMs = 0): Promise<void> {
  const watched = {
    db,
    onProgress: () => undefined,
    onError: (_id: string, error: unknown) => {
      throw error;
    },
  };
  await emptyDeletedProjects(watched);
  await emptyDeletedWorkspaces({ ...watched, graceMs });
}
