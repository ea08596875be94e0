import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

/** The release that the store was tried with. */
export const GATEWAY_VERSION = 'v1.8.0';

/** The program of Versity's S3 gateway: VERSITYGW, or where Go installs programs; undefined when it is not there. */
export const findGateway = (): string | undefined => {
  const { VERSITYGW, GOBIN, GOPATH = path.join(homedir(), 'go') } = process.env;
  const places = [VERSITYGW, path.join(GOBIN ?? path.join(GOPATH, 'bin'), 'versitygw')];
  return places.find((place) => place !== undefined && place !== '' && existsSync(place));
};
