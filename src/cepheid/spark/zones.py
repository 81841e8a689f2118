"""The session's time zone, by the name that Arrow and Python use.

In: a Spark session. Out: the zone of `spark.sql.session.timeZone`: a region, UTC or an offset. Spark also takes Java's
names of three letters.
"""

from __future__ import annotations

from typing import Any

from cepheid.algebra.zones import known_zone
from cepheid.errors import CepheidError

SESSION_ZONE = "spark.sql.session.timeZone"

_SHORT = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "EST": "-05:00",
    "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "MST": "-07:00",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}
"""What Java calls short ids."""


def session_zone(session: Any) -> str:
    """The zone in which a session shows timestamps."""
    name = str(session.conf.get(SESSION_ZONE))
    try:
        return known_zone(_SHORT.get(name, name))
    except CepheidError as error:
        message = f"the session's time zone, `{name}`, is not known here"
        hint = f"set `{SESSION_ZONE}` to a region such as Europe/Paris, or give `zone=`"
        raise CepheidError("bad-argument", message, hint=hint) from error
