/** An archive that cannot be written, or that is not what it should be. The message is for an operator. */
export class ArchiveError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ArchiveError';
  }
}

/** A name out of an archive as it may be shown: whatever stands in it, nothing but printable ASCII. */
export function shownName(name: string): string {
  return JSON.stringify(name).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
