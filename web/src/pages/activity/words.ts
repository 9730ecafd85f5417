import type { ResultOf } from '../../../../src/operations/table.ts';

/** Something that was done. */
export type Entry = ResultOf<'activity'>['entries'][number];

/** Actions whose name alone does not read well. The others are their name, taken apart. */
const WORDS: Readonly<Record<string, string>> = {
  signIn: 'Signed in',
  signInFailed: 'Failed to sign in',
  secondFactorAsked: 'Gave the password, and was asked for a code',
  signOut: 'Signed out',
  allowHost: 'Added a host name by the first set-up link',
  createKey: 'Made an API key',
  updateKey: 'Changed an API key',
  revokeKey: 'Revoked an API key',
  rotateKey: 'Gave an API key a second secret',
  addRelay: 'Added a relay',
  updateRelay: 'Changed a relay',
  removeRelay: 'Removed a relay',
  switchRelay: 'Switched a relay on or off',
  testRelay: 'Tested a relay',
  publishRoutes: 'Published a routing table',
  rollbackRoutes: 'Went back to an earlier routing table',
  addDomain: 'Added a domain',
  removeDomain: 'Removed a domain',
  rotateDomain: 'Rotated keys of a domain',
  putSettings: 'Changed settings',
  allowSource: 'Allowed a source',
  decideRestored: 'Decided what came back with a backup',
  putCertificate: 'Uploaded a certificate',
  renewCertificate: 'Renewed the certificate',
  createUser: 'Added a user',
  updateUser: 'Changed a user',
  removeUser: 'Removed a user',
  setupLink: 'Made a set-up link',
  resetPassword: 'Set a password anew',
  resetSecondFactor: 'Took a second factor away',
  endSession: 'Ended a session',
  endSessions: 'Ended all sessions of a user',
  hold: 'Held or released a lane',
  actOnQueue: 'Acted on the queue',
  actOnMessages: 'Acted on messages',
  cancelMessage: 'Cancelled a message',
  retryMessage: 'Retried a message',
  resendMessage: 'Sent a message again',
  deleteCaptured: 'Deleted captured mail',
  releaseCaptured: 'Released captured mail',
  backup: 'Made a backup',
  removeBackup: 'Removed a backup',
  retention: 'Removed what was kept long enough',
  compaction: 'Compacted the spool',
  export: 'Exported messages',
};

/** What was done, in words. */
export function actionWords(action: string): string {
  const known = WORDS[action];
  if (known !== undefined) return known;
  const apart = action
    .replace(/[_.-]+/g, ' ')
    .replace(/([a-z\d])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`);
  return apart.charAt(0).toUpperCase() + apart.slice(1);
}

/** Why it was not done, as the code of what was thrown; null for what was. */
export function refusalOf({ after }: Pick<Entry, 'after'>): string | null {
  if (typeof after !== 'object' || after === null || !('error' in after)) return null;
  return typeof after.error === 'string' && Object.keys(after).length === 1 ? after.error : null;
}

/** Whether it should catch the eye. */
export function isAlarming(action: string): boolean {
  return /failed|denied|refused/i.test(action);
}

/** Who did it, in words. */
export function actorWords({ actor, actorKind }: Pick<Entry, 'actor' | 'actorKind'>): string {
  if (actorKind === 'service') return 'the service';
  if (actorKind === 'command') return 'command line';
  return actor === '' ? 'nobody' : actor;
}
