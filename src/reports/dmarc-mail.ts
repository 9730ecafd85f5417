import { inSlices } from '../lib/clock.ts';
import { Few } from '../lib/few.ts';
import { readReportParts } from '../mail/report-reading.ts';
import { type DmarcReading, readDmarcReport } from './dmarc.ts';
import { packingOf, unpack } from './unpack.ts';

/** DMARC aggregate reports as they come: a file, or a message that a file is attached to (RFC 7489 §7.2.1.1). */

/** Files of one message that are tried: a report has one. */
const MAX_FILES = 3;

/** Unpacked, a small archive may fill `MAX_UNPACKED_BYTES`: those that come at once are read one after another. */
const READING = new Few(1);

/** Reads a file: zip, gzip or XML; or a message with such a file. Never rejects; the reason of a failure is for people. */
export async function readDmarcFile(bytes: Uint8Array): Promise<DmarcReading> {
  return packingOf(bytes) === null ? await readDmarcMail(bytes) : await readPacked(bytes);
}

/** Reads the report that is attached to a message, or is its whole body. Never rejects. */
export async function readDmarcMail(message: Uint8Array): Promise<DmarcReading> {
  const files = readReportParts(message)
    .filter(({ type, octets }) => !type.startsWith('multipart/') && packingOf(octets) !== null)
    .slice(0, MAX_FILES);
  let reading: DmarcReading = { ok: false, reason: 'no zip, gzip or XML is attached to it' };
  for (const { octets } of files) {
    reading = await readPacked(octets);
    if (reading.ok) break;
  }
  return reading;
}

function readPacked(bytes: Uint8Array): Promise<DmarcReading> {
  return READING.run(async () => {
    const unpacked = await unpack(bytes);
    return unpacked.ok ? await inSlices(readDmarcReport(unpacked.text)) : unpacked;
  });
}
