import type { Role } from '../domain/account.ts';
import { CERTIFICATE, DOMAIN, KEY, type Look, RELAY, ROUTES, SETTINGS_GIVEN, USER } from './looks.ts';
import type { OperationName } from './operations.ts';

/** Who may ask for an operation, and what of it is written down. */
export interface Access {
  /** Open from this role on. */
  readonly role: Role;
  /** Written into the activity, with what it was done to; null for reads. */
  readonly audit: Audit | null;
}

/** How an operation is written down. */
export interface Audit {
  /** The field of the request that says what it is done to, such as `definition.name`; null where the operation's name says it all. */
  readonly subject: string | null;
  /** How that thing is seen: kept as it was before and after. Without, the request is kept. */
  readonly look?: Look;
  /** Fields of the request that are never kept. */
  readonly hide?: readonly string[];
}

const READ: Access = { role: 'viewer', audit: null };
/** What a viewer need not know: keys, users, what others did. */
const CONFIDENTIAL: Access = { role: 'admin', audit: null };

function acts(subject: string | null = null, rest: Omit<Audit, 'subject'> = {}): Access {
  return { role: 'operator', audit: { subject, ...rest } };
}

function changes(subject: string | null = null, rest: Omit<Audit, 'subject'> = {}): Access {
  return { role: 'admin', audit: { subject, ...rest } };
}

/**
 * Every operation. One that is not `READ` or `CONFIDENTIAL` changes something, or makes this server connect somewhere: it
 * needs more than a viewer, and is written down, unless it says why not.
 */
export const ACCESS: Readonly<Record<OperationName, Access>> = {
  createKey: changes('name', { look: KEY }),
  listKeys: READ,
  updateKey: changes('key', { look: KEY }),
  revokeKey: changes('key', { look: KEY }),
  rotateKey: changes('key', { look: KEY }),
  /** Its message's own record tells of it. */
  submit: { role: 'operator', audit: null },
  submitRaw: { role: 'operator', audit: null },
  checkMessage: READ,
  message: READ,
  ways: READ,
  messages: READ,
  attempts: READ,
  messageContent: READ,
  cancelMessage: acts('id'),
  retryMessage: acts('id'),
  configuration: READ,
  doctor: READ,
  queue: READ,
  hold: acts('target'),
  actOnQueue: acts('act'),
  routeTables: READ,
  routeTable: READ,
  explainRoute: READ,
  /** Changes nothing, but takes seconds of the processor. */
  rehearseRoutes: { role: 'operator', audit: null },
  publishRoutes: changes(null, { look: ROUTES }),
  rollbackRoutes: changes('version', { look: ROUTES }),
  domains: READ,
  domain: READ,
  addDomain: changes('name', { look: DOMAIN }),
  removeDomain: changes('name', { look: DOMAIN }),
  rotateDomain: changes('name', { look: DOMAIN }),
  /** Only looks, but outside. */
  checkDomains: { role: 'operator', audit: null },
  relays: READ,
  relay: READ,
  relayForms: READ,
  addRelay: changes('definition.name', { look: RELAY, hide: ['secret'] }),
  checkRelay: READ,
  updateRelay: changes('name', { look: RELAY, hide: ['secret'] }),
  removeRelay: changes('name', { look: RELAY }),
  switchRelay: changes('name', { look: RELAY }),
  testRelay: { role: 'admin', audit: { subject: 'name', hide: ['unsaved'] } },
  users: CONFIDENTIAL,
  createUser: changes('name', { look: USER }),
  updateUser: changes('name', { look: USER }),
  removeUser: changes('name', { look: USER }),
  setupLink: changes('name'),
  resetPassword: changes('name', { look: USER, hide: ['password'] }),
  resetSecondFactor: changes('name', { look: USER }),
  sessions: CONFIDENTIAL,
  endSession: changes('id'),
  endSessions: changes('name'),
  settings: READ,
  putSettings: changes(null, { look: SETTINGS_GIVEN }),
  certificate: READ,
  putCertificate: changes(null, { look: CERTIFICATE, hide: ['key', 'certificate'] }),
  renewCertificate: changes(null, { look: CERTIFICATE }),
  denials: READ,
  allowSource: changes('cidr', { look: SETTINGS_GIVEN }),
  search: READ,
  countNew: READ,
  messageStory: READ,
  messagePreview: READ,
  messageDraft: READ,
  resendMessage: acts('id'),
  actOnMessages: acts('act'),
  overview: READ,
  series: READ,
  inbox: READ,
  deleteCaptured: acts(null),
  releaseCaptured: acts('id'),
  health: READ,
  system: READ,
  logTail: { role: 'operator', audit: null },
  activity: CONFIDENTIAL,
  backup: changes('file', { hide: ['passphrase'] }),
  backups: { role: 'admin', audit: null },
  removeBackup: changes('name'),
  decideRestored: acts('act'),
};
