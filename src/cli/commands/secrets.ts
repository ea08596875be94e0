import { Command } from 'commander';
import { z } from 'zod';
import { loadConfig } from '../../config.ts';
import { withLocalKeys } from '../../local/secret-key-file.ts';
import { rotateSecrets } from '../../webhooks/secrets/rotate.ts';
import { action } from '../action.ts';
import { note } from '../session.ts';

const nameOf = (keyId: string | null): string => (keyId === null ? 'in clear' : `of the key ${keyId}`);

/** `secrets rotate` */
export const secretsCommand = (): Command =>
  new Command('secrets').description('the encryption of webhook secrets in the database').addCommand(
    new Command('rotate')
      .description(
        'encrypt all webhook secrets with the first key of SECRETS_KEYS, and say which keys no secret names any more',
      )
      .action(
        action(z.object({}), async ({ db }) => {
          const config = loadConfig();
          const { SECRETS_KEYS } = config.DATABASE_URL === undefined ? withLocalKeys(config) : config;
          const { keyId, from } = await rotateSecrets(db, SECRETS_KEYS, (of, encrypted) => {
            if (encrypted > 0)
              note(`secrets ${nameOf(of)}: ${encrypted} encrypted with ${keyOf(SECRETS_KEYS)}`);
          });
          for (const { keyId: of, left } of from) {
            if (left === 0 && of !== null) note(`no endpoint names the key ${of} any more`);
          }
          const ok = from.every(({ left }) => left === 0);
          if (!ok) process.exitCode = 1;
          return {
            ok,
            keyId,
            from: from.map(({ keyId: of, ...counts }) => ({ keyId: of ?? 'clear', ...counts })),
          };
        }),
      ),
  );

const keyOf = ([first]: readonly { readonly id: string }[]): string => first?.id ?? '';
