import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { getCACertificates } from 'node:tls';
import { createGunzip } from 'node:zlib';
import { unpackTar } from 'modern-tar/fs';
import { EnvHttpProxyAgent, fetch, type Response } from 'undici';
import { z } from 'zod';
import { errorMessage } from '../error-text.ts';
import { type FetchOptions, meter, sizeLimit, watchFetch } from './temporal-fetch-limits.ts';
import type { TemporalRelease } from './temporal-release.ts';

/** The most time for connecting, in case a firewall drops packets. */
const CONNECT_MS = 5_000;

const archiveSchema = z.object({ archiveUrl: z.url({ protocol: /^https?$/ }), fileToExtract: z.string() });

/**
 * Downloads the official archive as Temporal's SDKs do: the service at `release.downloads` names this platform's archive.
 * (The SDK itself would run the file before its hash could be checked.)
 *
 * @param scratch an existing empty folder
 * @returns the unpacked file, not checked yet
 * @throws Error when the host cannot be reached, stops responding or does not have the release
 */
export async function downloadRelease(
  scratch: string,
  release: TemporalRelease,
  options: FetchOptions,
): Promise<{ path: string; name: string }> {
  options.onProgress(`Downloading the Temporal CLI ${release.version} (once)`);
  const host = new URL(release.downloads).host;
  const watch = watchFetch(host, options);
  const dispatcher = agentFor(options.env);
  const get = async (url: string): Promise<Response> => {
    const response = await fetch(url, { dispatcher, signal: watch.signal });
    if (!response.ok) throw new Error(`${host} responded with ${response.status}`);
    return response;
  };
  try {
    const platform = `arch=${process.arch === 'x64' ? 'amd64' : process.arch}&platform=${process.platform}`;
    const response = await get(`${release.downloads}/cli/${release.version}?${platform}&format=tar.gz`);
    const { archiveUrl, fileToExtract } = archiveSchema.parse(await response.json());
    const { body } = await get(archiveUrl);
    if (body === null) throw new Error(`${host} sent an empty archive`);
    const folder = join(scratch, 'unpacked');
    mkdirSync(folder);
    const unpack = unpackTar(folder, {
      filter: (header) => header.name === fileToExtract && header.type === 'file',
      map: (header) => ({ ...header, name: 'temporal' }),
      fmode: 0o600,
    });
    await pipeline(Readable.fromWeb(body), meter(watch.seen), createGunzip(), sizeLimit(), unpack);
    return { path: join(folder, 'temporal'), name: `${fileToExtract} in ${archiveUrl}` };
  } catch (error) {
    watch.signal.throwIfAborted();
    throw error instanceof TypeError
      ? new Error(`${host} could not be reached or closed the connection: ${causeOf(error)}`)
      : error;
  } finally {
    watch.end();
    await dispatcher.destroy();
  }
}

/** Uses the user's proxy and the system's certificates. */
function agentFor(env: NodeJS.ProcessEnv): EnvHttpProxyAgent {
  const ca = [...getCACertificates('default'), ...getCACertificates('system')];
  return new EnvHttpProxyAgent({
    httpProxy: env.http_proxy ?? env.HTTP_PROXY ?? '',
    httpsProxy: env.https_proxy ?? env.HTTPS_PROXY ?? '',
    noProxy: env.no_proxy ?? env.NO_PROXY ?? '',
    connect: { timeout: CONNECT_MS, ca },
    requestTls: { timeout: CONNECT_MS, ca },
  });
}

/** The reason for a failed `fetch`, which is in the error's cause. */
function causeOf(error: Error): string {
  return errorMessage(error.cause ?? error);
}
