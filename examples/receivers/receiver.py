import base64
import hashlib
import hmac
import json
import os
import re
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRETS = os.environ["WEBHOOK_SECRET"].split(" ")
TOLERANCE_SECONDS = 300
# Keep these in your database, so that they outlive a restart.
SEEN = set()


class VerificationError(Exception):
    pass


def one(headers, name: str) -> str:
    values = headers.get_all(name, [])
    if len(values) != 1:
        raise VerificationError("missing or repeated " + name)
    return values[0]


def digest(key: bytes, signed: bytes) -> bytes:
    return hmac.new(key, signed, hashlib.sha256).digest()


def verify_standard(raw_body: bytes, headers) -> tuple[str, str]:
    """Returns the event's id and the time it was signed at."""
    event_id, t = one(headers, "webhook-id"), one(headers, "webhook-timestamp")
    signed = f"{event_id}.{t}.".encode() + raw_body
    keys = [base64.b64decode(secret.removeprefix("whsec_")) for secret in SECRETS]
    expected = [b"v1," + base64.b64encode(digest(key, signed)) for key in keys]
    for signature in one(headers, "webhook-signature").encode().split(b" "):
        if any(hmac.compare_digest(signature, own) for own in expected):
            return event_id, t
    raise VerificationError("signature mismatch")


def verify_service(raw_body: bytes, headers) -> tuple[str, str]:
    """Returns the delivery's id and the time it was signed at."""
    # Each of the two once; further fields are ignored.
    fields = re.findall(r"(?:^|,)(t|v1)=([^,]*)", one(headers, "x-service-signature"))
    t, v1 = dict(fields).get("t", ""), dict(fields).get("v1", "")
    if len(fields) != 2 or not re.fullmatch(r"[0-9]{1,15}", t) or not re.fullmatch(r"[0-9a-f]{64}", v1):
        raise VerificationError("malformed header")
    signed = t.encode() + b"." + raw_body
    expected = [digest(secret.encode(), signed).hex() for secret in SECRETS]
    if not any(hmac.compare_digest(own, v1) for own in expected):
        raise VerificationError("signature mismatch")
    return headers.get("x-service-delivery", ""), t


def verify(raw_body: bytes, headers) -> tuple[str, dict]:
    """Returns the id to deduplicate on, and {"event": ..., "data": ...}; raises VerificationError."""
    is_standard = headers.get("webhook-signature") is not None
    id, t = (verify_standard if is_standard else verify_service)(raw_body, headers)
    if not re.fullmatch(r"[0-9]{1,15}", t) or abs(int(time.time()) - int(t)) > TOLERANCE_SECONDS:
        raise VerificationError("timestamp out of range")
    return id, json.loads(raw_body)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        raw_body = self.rfile.read(int(self.headers.get("content-length", "0")))
        try:
            id, body = verify(raw_body, self.headers)
        except VerificationError as error:
            return self.respond(400, str(error))
        if id not in SEEN:
            SEEN.add(id)
            data = json.dumps(body["data"], separators=(",", ":"), ensure_ascii=False)
            print(f"received {body['event']} {data}", flush=True)
        self.respond(204)

    def respond(self, status: int, text: str = ""):
        self.send_response(status)
        if text:
            self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver)
print(f"listening on {server.server_port}", flush=True)
server.serve_forever()
