/**
 * The configured limits of the ingestion API (contract §6), named as in the configuration: `api.max_tags` is
 * `maxTags`. They may change while the server runs; whoever heeds one reads it with every request.
 */
export interface IngestLimits {
  /** Requests a minute of a key without a limit of its own; 0 is unlimited. */
  readonly rateLimitPerKey: number;
  readonly maxMessageBytes: number;
  readonly maxRecipients: number;
  readonly maxHeaders: number;
  readonly maxHeaderBytes: number;
  readonly maxAttachments: number;
  readonly maxTags: number;
  readonly maxMetadata: number;
  readonly maxJsonDepth: number;
  readonly maxJsonValues: number;
  readonly maxFormParts: number;
  readonly maxPartHeaderBytes: number;
  readonly maxPartHeaders: number;
  readonly maxBatchMessages: number;
  readonly maxBatchBytes: number;
  readonly batchMessagesPerMinute: number;
  readonly corsOrigins: readonly string[];
}
