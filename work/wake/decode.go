package wake

import "github.com/jackc/pglogrepl"

// decoder picks the transactions that have inserted from a stream of pgoutput. It looks at no row.
type decoder struct {
	xid       uint32
	inserts   bool // the transaction that comes in does
	committed []int64
}

// decode takes one message. until is how far the log has been read with it; asked tells that the
// server wants to hear that at once.
func (d *decoder) decode(data []byte) (until pglogrepl.LSN, asked bool, err error) {
	if len(data) == 0 {
		return 0, false, nil
	}
	switch data[0] {
	case pglogrepl.PrimaryKeepaliveMessageByteID:
		alive, err := pglogrepl.ParsePrimaryKeepaliveMessage(data[1:])
		return alive.ServerWALEnd, alive.ReplyRequested, err
	case pglogrepl.XLogDataByteID:
		log, err := pglogrepl.ParseXLogData(data[1:])
		if err != nil || len(log.WALData) == 0 {
			return 0, false, err
		}
		return log.WALStart, false, d.message(log.WALData)
	}
	return 0, false, nil
}

func (d *decoder) message(data []byte) error {
	switch pglogrepl.MessageType(data[0]) {
	case pglogrepl.MessageTypeBegin:
		var begin pglogrepl.BeginMessage
		if err := begin.Decode(data[1:]); err != nil {
			return err
		}
		d.xid, d.inserts = begin.Xid, false
	case pglogrepl.MessageTypeInsert:
		d.inserts = true
	case pglogrepl.MessageTypeCommit:
		if d.inserts {
			d.committed = append(d.committed, int64(d.xid))
		}
	}
	return nil
}
