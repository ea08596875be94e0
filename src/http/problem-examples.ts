import { type ErrorCode, ServiceError } from '../errors.ts';
import { type Problem, toProblem } from './problems.ts';

const REQUEST_ID = '0d3c9b7e-5a41-4a8e-9a57-2f6c1f1f8d20';

const EXAMPLES = {
  INVALID_REQUEST: new ServiceError(
    'INVALID_REQUEST',
    '/label: Expected 1 to 120 characters after trimming.',
    {
      issues: [{ pointer: '/label', detail: 'Expected 1 to 120 characters after trimming.' }],
    },
  ),
  UNAUTHENTICATED: new ServiceError(
    'UNAUTHENTICATED',
    'The API key is not valid. It may be mistyped, expired or revoked.',
  ),
  INSUFFICIENT_CREDITS: new ServiceError('INSUFFICIENT_CREDITS', 'This needs 3 credits and 1 is available.'),
  FORBIDDEN: new ServiceError('FORBIDDEN', "The key's role lacks api_keys.create.", {
    details: { permissions: ['api_keys.create'] },
  }),
  RESOURCE_NOT_FOUND: new ServiceError('RESOURCE_NOT_FOUND', 'No such workspace.'),
  METHOD_NOT_ALLOWED: new ServiceError('METHOD_NOT_ALLOWED', 'This path allows GET, HEAD, OPTIONS, POST.'),
  CONFLICT: new ServiceError('CONFLICT', 'The role was deleted.', { details: { reason: 'role_deleted' } }),
  GONE: new ServiceError(
    'GONE',
    'The log does not go on from this cursor. Read the current state, then go on from details.latest.',
    {
      details: {
        reason: 'cursor_lost',
        oldest: 'NDEg',
        latest: 'NDIgMDE5YWJmMmUtNmYwYi03YjU5LTlhMGUtMWYwYzZmMGI3ZDEx',
      },
    },
  ),
  PRECONDITION_FAILED: new ServiceError(
    'PRECONDITION_FAILED',
    'The resource has changed since the version named in If-Match.',
  ),
  PAYLOAD_TOO_LARGE: new ServiceError('PAYLOAD_TOO_LARGE', 'The body may have at most 65536 bytes.'),
  UNSUPPORTED_MEDIA_TYPE: new ServiceError(
    'UNSUPPORTED_MEDIA_TYPE',
    'Send the body as application/json in UTF-8.',
  ),
  QUOTA_EXCEEDED: new ServiceError('QUOTA_EXCEEDED', 'The monthly quota of AI operations is used up.'),
  RATE_LIMITED: new ServiceError(
    'RATE_LIMITED',
    'More than 6000 requests a minute for this key. Retry after Retry-After seconds.',
  ),
  INTERNAL_ERROR: new ServiceError(
    'INTERNAL_ERROR',
    'Something went wrong. Quote the requestId when you report it.',
  ),
  SERVICE_UNAVAILABLE: new ServiceError(
    'SERVICE_UNAVAILABLE',
    'The service cannot reach its database. Try again shortly.',
  ),
} as const satisfies Record<ErrorCode, ServiceError>;

/** An example response with this code, for the documentation. */
export const problemExample = (code: ErrorCode): Problem => toProblem(EXAMPLES[code], REQUEST_ID);
