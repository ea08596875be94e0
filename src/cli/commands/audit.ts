import { Command } from 'commander';
import { listAuditEntries } from '../../audit/list.ts';
import { action } from '../action.ts';
import { pagedList, pageOf, pageOptions } from '../paged-list.ts';
import { requireWorkspace } from '../targets.ts';

/** `audit list` */
export const auditCommand = (): Command =>
  new Command('audit').description('read what was changed in a workspace, and by whom').addCommand(
    pagedList('the audit log of a workspace').action(
      action(pageOptions, async ({ db, operatorOf }, { workspace, ...page }) => {
        const context = operatorOf(await requireWorkspace(db, workspace));
        const { entries, nextCursor } = await listAuditEntries(context, pageOf(page));
        return {
          entries: entries.map(({ id, createdAt, actor, details, ...entry }) => ({
            entryId: id,
            createdAt,
            actor: actor.kind,
            actorId: actor.id,
            ...entry,
            details,
          })),
          nextCursor,
        };
      }),
    ),
  );
