import { z } from 'zod';
import { ROLES } from '../domain/account.ts';
import { MESSAGE_STATUSES } from '../domain/delivery.ts';
import { integer, type Told, text } from './command.ts';
import { CONFIDENTIAL, changes, look, type OperationsOf, operation, type Shown } from './operation.ts';

/** What a user is called when signing in. */
export const userName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._@-]{0,63}$/,
    'must be 1 to 64 of a-z 0-9 . _ @ -, beginning with a letter or digit',
  );

const role = z.enum(ROLES);

/** Hours that a link for a password works, unless its maker says otherwise, and at most. */
export const USUAL_HOURS = 1;
const MAX_HOURS = 7 * 24;

/** How a link is made, and sent. */
const linkTerms = {
  hours: z.int().min(1).max(MAX_HOURS).default(USUAL_HOURS).describe('How long the link works.'),
  mailTo: z
    .string()
    .max(320)
    .nullable()
    .default(null)
    .describe('The address that the server sends the link to, by mail; null: to none.'),
};
const userRequest = z.strictObject({ name: z.string().max(64) });

const userView = () =>
  z.strictObject({
    name: z.string(),
    role: role,
    disabled: z.boolean(),
    /** The identity provider that they sign in with, by its issuer; null: they sign in here. */
    provider: z.string().nullable(),
    /** False until they chose a password. */
    hasPassword: z.boolean(),
    secondFactor: z.boolean(),
    /** How many. */
    passkeys: z.number(),
    createdAt: z.string(),
    lastSignInAt: z.string().nullable(),
    sessions: z.number(),
  });

/** A user as shown. Times are RFC 3339. */
export type UserView = Shown<typeof userView>;

const listedUser = () =>
  z.strictObject({
    ...userView().shape,
    /** The link by which they may choose a password now; null: there is none. */
    link: z
      .strictObject({
        expiresAt: z.string(),
        /** The message by which it was sent; null: it was handed over. */
        mail: z
          .strictObject({
            to: z.string(),
            id: z.string(),
            /** As in lists; `captured`: it went nowhere; null: its record is gone. */
            status: z.enum([...MESSAGE_STATUSES, 'captured']).nullable(),
          })
          .nullable(),
      })
      .nullable(),
  });

/** A user as the list shows it. */
export type ListedUser = Shown<typeof listedUser>;

const userLink = () =>
  z.strictObject({
    /** Null for the first administrator, who chooses a name too. */
    name: z.string().nullable(),
    /** The dashboard's path with the token in its fragment, such as `/setup#…`: never sent to a server by a browser. */
    path: z.string(),
    /** The same with the host, where the server knows how it is reached; null when its port is off. */
    url: z.string().nullable(),
    expiresAt: z.string(),
    /** The message that it was sent by; null: it was not. */
    mail: z.strictObject({ to: z.string(), id: z.string() }).nullable(),
    /** Why it was not sent although that was asked for; null otherwise. */
    mailFault: z.string().nullable(),
  });

/** A way for a user to choose a password, once. */
export type UserLink = Shown<typeof userLink>;

const sessionRow = () =>
  z.strictObject({
    id: z.string(),
    name: z.string(),
    createdAt: z.string(),
    lastSeenAt: z.string(),
    expiresAt: z.string(),
    sourceAddress: z.string(),
    /** What the browser called itself, at most 200 characters. */
    agent: z.string(),
    /** It is the one that asks. */
    current: z.boolean(),
  });

/** A session as shown; never its secret. */
export type SessionRow = Shown<typeof sessionRow>;

/** A user by name. */
const USER = look<readonly ListedUser[]>(
  'users',
  () => ({}),
  (users, { name }) => {
    const found = users.find((user) => user.name === name);
    if (found === undefined) return undefined;
    const { lastSignInAt: _, sessions: __, link: ___, ...rest } = found;
    return rest;
  },
);

/** A way in, and what to know of it. */
function linkText(
  { name, url, path, expiresAt, mail, mailFault }: UserLink,
  { running }: Told<unknown>,
): string {
  const whom =
    name === null
      ? 'The first administrator chooses a name and a password here'
      : `${name} chooses a password here`;
  const lines = [
    url ?? `https://HOST:PORT${path}`,
    '',
    `${whom}, once, until ${expiresAt}.`,
    'From another machine, replace localhost with the name of this one.',
  ];
  if (mail !== null) lines.push(`It was sent to ${mail.to}: waybill messages show ${mail.id}`);
  if (mailFault !== null) lines.push(`It was not sent: ${mailFault}`);
  if (!running)
    lines.push(
      name === null
        ? 'The server is not running. When it starts, it prints a new link, which replaces this one.'
        : 'The server is not running; start it first: waybill serve',
    );
  return lines.join('\n');
}

/** What operators can ask of those who use the dashboard, and do to them. */
export const ACCOUNT_OPERATIONS = {
  users: operation({
    meaning: 'Every user, by name.',
    access: CONFIDENTIAL,
    request: z.strictObject({}),
    result: () => z.array(listedUser()),
  }),
  createUser: operation({
    meaning:
      'Adds a user, who chooses a password with the link in the result, which the server also sends by mail where that is asked for.',
    access: changes({ words: 'Added a user', subject: 'name', look: USER, touches: ['users'] }),
    request: z.strictObject({ name: userName, role, ...linkTerms }),
    result: userLink,
  }),
  updateUser: operation({
    meaning:
      "Changes a user's role, or whether they may sign in. The last administrator stays one; the role of a provider's user follows from their groups.",
    access: changes({ words: 'Changed a user', subject: 'name', look: USER, touches: ['users'] }),
    request: z.strictObject({
      ...userRequest.shape,
      role: role.nullable().describe('Null leaves it as it is.'),
      disabled: z.boolean().nullable(),
    }),
    result: userView,
  }),
  removeUser: operation({
    meaning: 'Removes a user and ends their sessions.',
    access: changes({ words: 'Removed a user', subject: 'name', look: USER, touches: ['users'] }),
    request: userRequest,
    result: userView,
  }),
  setupLink: operation({
    meaning:
      'Makes a link with which a user, or (null) the first administrator, chooses a password; it works once, within an hour unless it is to last longer. That of the first administrator neither lasts longer nor is sent.',
    access: changes({ words: 'Made a set-up link', subject: 'name', touches: ['users'] }),
    request: z.strictObject({ name: z.string().max(64).nullable(), ...linkTerms }),
    result: userLink,
    commands: [
      {
        words: 'admin setup-link',
        summary: 'make a link for choosing a password, and send it; it works once, within an hour or longer',
        examples: [
          'waybill admin setup-link        # for the first administrator, until there is one',
          'waybill admin setup-link ann',
          'waybill admin setup-link bea --hours 72 --mail-to bea@example.org',
        ],
        takes: {
          name: text('[name]', 'user (default: the first administrator, who also chooses a name)', {
            absent: null,
          }),
          hours: integer('--hours <n>', 'how long the link works', [1, MAX_HOURS], { absent: USUAL_HOURS }),
          mailTo: text('--mail-to <address>', 'send the link there', { absent: null }),
        },
        prints: linkText,
      },
    ],
  }),
  resetPassword: operation({
    meaning: "Sets a password and ends the user's sessions; makes the first administrator if there is none.",
    access: changes({
      words: 'Set a new password',
      subject: 'name',
      look: USER,
      hide: ['password'],
      touches: ['users'],
    }),
    request: z.strictObject({ ...userRequest.shape, password: z.string().max(1024) }),
    result: userView,
  }),
  resetSecondFactor: operation({
    meaning: "Removes a user's second factor.",
    access: changes({ words: 'Took a second factor away', subject: 'name', look: USER, touches: ['users'] }),
    request: userRequest,
    result: userView,
  }),
  removePasskeys: operation({
    meaning:
      "Removes a user's passkeys, such as those on a device that was lost, and ends the user's sessions, which may be open there.",
    access: changes({
      words: 'Removed the passkeys of a user',
      subject: 'name',
      look: USER,
      touches: ['users'],
    }),
    request: userRequest,
    result: userView,
    commands: [
      {
        words: 'admin remove-passkeys',
        summary: "remove a user's passkeys, such as those on a device that was lost, and end their sessions",
        examples: ['waybill admin remove-passkeys ann'],
        takes: { name: text('<name>', 'user') },
        prints: ({ name }) =>
          `${name} has no passkeys any more, is signed out everywhere, and signs in by password.`,
      },
    ],
  }),
  sessions: operation({
    meaning: 'Open sessions of one user or (null) of all, the most recently used first.',
    access: CONFIDENTIAL,
    request: z.strictObject({ name: z.string().max(64).nullable() }),
    result: () => z.array(sessionRow()),
  }),
  endSession: operation({
    meaning: 'Ends a session.',
    access: changes({ words: 'Ended a session', subject: 'id', touches: ['users'] }),
    request: z.strictObject({ id: z.string().max(64) }),
    result: sessionRow,
  }),
  endSessions: operation({
    meaning: 'Ends every session of a user. Returns how many.',
    access: changes({ words: 'Ended all sessions of a user', subject: 'name', touches: ['users'] }),
    request: userRequest,
    result: () =>
      z.strictObject({
        ended: z.number(),
      }),
  }),
};

/** Those who carry them out. */
export type AccountOperations = OperationsOf<typeof ACCOUNT_OPERATIONS>;
