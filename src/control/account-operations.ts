import { z } from 'zod';
import { ROLES, type Role } from '../domain/account.ts';

/** What operators can ask of those who use the dashboard, and do to them: a part of the operations. */
export interface AccountOperations {
  /** Every user, by name. */
  users(request: Record<string, never>): Promise<readonly UserView[]>;
  /** Adds a user, who chooses a password by the link in the result. */
  createUser(request: CreateUserRequest): Promise<UserLink>;
  /** Changes a user's role, or whether they may sign in. The last administrator stays one. */
  updateUser(request: UpdateUserRequest): Promise<UserView>;
  /** Forgets a user and ends their sessions. */
  removeUser(request: UserRequest): Promise<UserView>;
  /** A link by which a user, or (null) the first administrator, chooses a password, once, within an hour. */
  setupLink(request: SetupLinkRequest): Promise<UserLink>;
  /** Sets a password and ends the user's sessions; makes the first administrator where there is none. */
  resetPassword(request: ResetPasswordRequest): Promise<UserView>;
  /** Takes a user's second factor away. */
  resetSecondFactor(request: UserRequest): Promise<UserView>;
  /** Sessions that have not ended, of one user or (null) of all; the one used last first. */
  sessions(request: SessionsRequest): Promise<readonly SessionRow[]>;
  /** Ends a session. */
  endSession(request: SessionRequest): Promise<SessionRow>;
  /** Ends every session of a user. Gives how many. */
  endSessions(request: UserRequest): Promise<{ readonly ended: number }>;
}

/** What a user is called when signing in. */
export const userName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._@-]{0,63}$/,
    'must be 1 to 64 of a-z 0-9 . _ @ -, beginning with a letter or digit',
  );

const role = z.enum(ROLES);
const userRequest = z.strictObject({ name: z.string().max(64) });

/** The shape of every request on accounts. */
export const ACCOUNT_REQUESTS = {
  users: z.strictObject({}),
  createUser: z.strictObject({ name: userName, role }),
  updateUser: z.strictObject({
    ...userRequest.shape,
    /** Null leaves it as it is. */
    role: role.nullable(),
    disabled: z.boolean().nullable(),
  }),
  removeUser: userRequest,
  setupLink: z.strictObject({ name: z.string().max(64).nullable() }),
  resetPassword: z.strictObject({ ...userRequest.shape, password: z.string().max(1024) }),
  resetSecondFactor: userRequest,
  sessions: z.strictObject({ name: z.string().max(64).nullable() }),
  endSession: z.strictObject({ id: z.string().max(64) }),
  endSessions: userRequest,
};

/** See {@link AccountOperations.createUser}. */
export type CreateUserRequest = z.infer<typeof ACCOUNT_REQUESTS.createUser>;
/** See {@link AccountOperations.updateUser}. */
export type UpdateUserRequest = z.infer<typeof ACCOUNT_REQUESTS.updateUser>;
/** Names a user. */
export type UserRequest = z.infer<typeof userRequest>;
/** See {@link AccountOperations.setupLink}. */
export type SetupLinkRequest = z.infer<typeof ACCOUNT_REQUESTS.setupLink>;
/** See {@link AccountOperations.resetPassword}. */
export type ResetPasswordRequest = z.infer<typeof ACCOUNT_REQUESTS.resetPassword>;
/** See {@link AccountOperations.sessions}. */
export type SessionsRequest = z.infer<typeof ACCOUNT_REQUESTS.sessions>;
/** See {@link AccountOperations.endSession}. */
export type SessionRequest = z.infer<typeof ACCOUNT_REQUESTS.endSession>;

/** A user as shown. Times are RFC 3339. */
export interface UserView {
  readonly name: string;
  readonly role: Role;
  readonly disabled: boolean;
  /** False until they chose a password. */
  readonly hasPassword: boolean;
  readonly secondFactor: boolean;
  readonly createdAt: string;
  readonly lastSignInAt: string | null;
  readonly sessions: number;
}

/** A way for a user to choose a password, once. */
export interface UserLink {
  /** Null for the first administrator, who chooses a name too. */
  readonly name: string | null;
  /** The dashboard's path with the token in its fragment, such as `/setup#…`: never sent to a server by a browser. */
  readonly path: string;
  /** The same with the host, where the server knows how it is reached; null when its port is off. */
  readonly url: string | null;
  readonly expiresAt: string;
}

/** A session as shown; never its secret. */
export interface SessionRow {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastSeenAt: string;
  readonly expiresAt: string;
  readonly sourceAddress: string;
  /** What the browser called itself, at most 200 characters. */
  readonly agent: string;
  /** It is the one that asks. */
  readonly current: boolean;
}
