import { userInfo } from 'node:os';

/** Who runs the command, for the operators' log: OPERATOR, else the user of the operating system. */
export function operatorName({ OPERATOR }: { readonly OPERATOR?: string | undefined }): string {
  if (OPERATOR !== undefined) return OPERATOR;
  try {
    return userInfo().username;
  } catch {
    // A container's user need not have a name.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
