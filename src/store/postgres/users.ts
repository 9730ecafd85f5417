import type { User } from '../../domain/account.ts';
import type { Queries } from '../../postgres/database.ts';

/** Selects users as they are at the time `$1`. */
export const USERS = `SELECT name, role, disabled, created_at AS "createdAt", password AS "passwordHash",
  last_sign_in_at AS "lastSignInAt", second_factor AS "secondFactor",
  (SELECT count(*) FROM recovery_codes WHERE user_name = name) AS "recoveryCodesLeft",
  (SELECT count(*) FROM sessions WHERE user_name = name AND stage = 'full' AND expires_at > $1) AS sessions
  FROM users`;

/** A user; null: there is no such one. */
export async function readUser(db: Pick<Queries, 'rows'>, name: string, now: number): Promise<User | null> {
  const [user] = await db.rows<User>(`${USERS} WHERE name = $2`, [now, name]);
  return user ?? null;
}
