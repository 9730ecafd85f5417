import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { RuntimePorts } from './premises.ts';

const port = z.int().min(1).max(65_535);

const runtimeSchema = z.object({
  pid: z.int(),
  version: z.string(),
  api: port.nullable(),
  apiTls: port.nullable(),
  webui: port.nullable(),
  smtp: z.array(port),
  smtpTls: z.array(port),
}) satisfies z.ZodType<RuntimePorts>;

/** Reads `runtime.json`; null when it is not there, or no server wrote it. */
export function readRuntime(file: string): RuntimePorts | null {
  try {
    return runtimeSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}
