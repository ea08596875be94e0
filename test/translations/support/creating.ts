import { storedWallet } from '../../support/credits.ts';
import type { Answer, TestService, TestWorkspace } from '../../support/service.ts';

/** Asks for translations over HTTP, and reads a workspace's wallet as it is stored. */
export const creating = (service: TestService) => ({
  create: (workspace: TestWorkspace, articleId: string, body: unknown, headers = {}): Promise<Answer> =>
    service.call(workspace.key, 'POST', `/api/articles/${articleId}/translations`, body, headers),
  wallet: ({ id }: TestWorkspace) => storedWallet(service.db, id),
});
