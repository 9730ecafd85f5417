/** The code of an error, such as the system's `ENOENT`; null without one. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null;
}

/** Why a file cannot be read, in words if they are known. */
export function readError(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES') return 'this user may not read it';
  return error instanceof Error ? error.message : String(error);
}
