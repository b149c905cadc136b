import { isJsonObject, type JsonObject } from '../../engine/model/json.ts';
import { unpackSignature } from '../../engine/model/signature.ts';

/** Whether some item holds a payload that the gateway packed, and that no vendor could read as it is. */
export const holdsPacked = (body: JsonObject): boolean =>
  Array.isArray(body.input) &&
  body.input.some(
    (item) =>
      isJsonObject(item) &&
      typeof item.encrypted_content === 'string' &&
      unpackSignature(item.encrypted_content) !== undefined,
  );
