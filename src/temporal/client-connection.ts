import { InterceptingCall, Metadata, status } from '@grpc/grpc-js';
import {
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';
import type { TemporalConnectionOptions } from './connection-options.ts';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

/** A call that ends at once, for a channel that takes no calls. */
const cancelledCall = (details: string): ConstructorParameters<typeof InterceptingCall>[0] => ({
  start: (_metadata, listener) => {
    listener?.onReceiveStatus?.({ code: status.CANCELLED, details, metadata: new Metadata() });
  },
  cancelWithStatus: () => undefined,
  getPeer: () => '',
  sendMessageWithContext: () => undefined,
  sendMessage: () => undefined,
  startRead: () => undefined,
  halfClose: () => undefined,
  getAuthContext: () => null,
});

/** A closed channel throws; in the timer of a retry nothing could catch that, so the process would end. */
const cancelWhenClosed: Interceptor = (options, nextCall) => {
  try {
    return new InterceptingCall(nextCall(options));
  } catch (error) {
    return new InterceptingCall(cancelledCall(String(error)));
  }
};

/**
 * Opens a connection of the client, at its first call. Calls are retried as by default; those that wait for their retry
 * when the connection is closed fail as CANCELLED.
 */
export const openClientConnection = (target: TemporalConnectionOptions): Connection =>
  Connection.lazy({
    ...target,
    interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), cancelWhenClosed],
  });
