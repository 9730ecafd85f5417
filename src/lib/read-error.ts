/** Why a file cannot be read, in words where they are known. */
export function readError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES') return 'this user may not read it';
  return error instanceof Error ? error.message : String(error);
}
