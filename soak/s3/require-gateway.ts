/** Says what to install when the gateway is not there, and ends with 1. */
import { findGateway, GATEWAY_VERSION } from './gateway.ts';

if (findGateway() === undefined) {
  process.stderr.write(
    `The S3 gateway of Versity is not installed here. With Go, which builds it within two minutes:\n` +
      `  go install github.com/versity/versitygw/cmd/versitygw@${GATEWAY_VERSION}\n` +
      'Then run `npm run test:s3` again, with VERSITYGW=<its path> if it is elsewhere.\n',
  );
  process.exitCode = 1;
}
