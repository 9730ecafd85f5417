import { z } from 'zod';

/** What answers tell of routes: described once, for the API's description. */

/** A relay of a group. */
export const groupMemberSchema = z
  .object({
    relay: z.string(),
    fitness: z
      .enum(['usable', 'resting', 'spent', 'paused', 'disabled', 'draining', 'missing'])
      .describe(
        '`usable`; `resting` after failures; `spent`: it has had what it may have today; `paused` or `draining` by an operator; `disabled`; `missing`: there is no such relay.',
      ),
  })
  .describe('A relay that mail may go by, and whether it can be sent to now.');

/** What a rule came to. */
export const ruleVerdictSchema = z
  .object({
    rule: z.string(),
    matched: z.boolean(),
    unmet: z.string().nullable().describe('The first condition that does not hold; null when it matches.'),
  })
  .describe('What one rule came to.');

/** How mail is routed, and why. */
export const routeExplanationSchema = z
  .object({
    from: z.string().describe('The envelope’s sender; empty for the null reverse-path.'),
    to: z.string(),
    at: z.string().meta({ format: 'date-time', description: 'When it would be sent.' }),
    tableVersion: z.int().describe('The published routing table that decides.'),
    rules: z
      .array(ruleVerdictSchema)
      .describe('In order, up to the one that matched; none where it is decided before any rule.'),
    rule: z.string().nullable().describe('The rule that chose the group; null for the default relay.'),
    weighted: z
      .boolean()
      .describe('The order of the group is drawn by weight: the next message may get another.'),
    group: z.array(groupMemberSchema).describe('In the order in which they are tried.'),
    relay: z
      .string()
      .nullable()
      .describe('The relay that would be tried first; null: it would wait for a route.'),
  })
  .describe('Where mail would go, and why.');
